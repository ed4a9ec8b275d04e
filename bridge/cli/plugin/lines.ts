/** The lines that the words of `plugin` print. */
import { oneLine } from '../../../src/log/visibleText.js';
import type { CommandContext } from '../../command/command.js';
import { paragraph } from '../../command/table.js';
import { type AgentName, asTyped } from '../../plugin/agent.js';
import type { Done } from '../../plugin/change.js';
import type { Trouble } from '../../plugin/installation.js';

export function doneLines(done: readonly Done[]): string[] {
  return done.flatMap(({ command, fault }) => [asTyped(command), ...(fault === null ? [] : [`    ${fault}`])]);
}

export function doneValue({ command, fault }: Done) {
  return { command: asTyped(command), fault };
}

export function troubleLines(
  trouble: readonly (Trouble & { readonly agent: AgentName | null })[],
  { io, redact }: CommandContext,
): string[] {
  return trouble.flatMap(({ agent, found, remedy }) => {
    const lines = [`${agent === null ? '' : `${agent}: `}${found}`, `→ ${remedy}`];
    return paragraph(redact(lines.map(oneLine).join('\n')), io, '    ').split('\n');
  });
}
