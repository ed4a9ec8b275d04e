/** What the words of `plugin` print. */
import type { CommandContext } from '../../command/command.js';
import { paragraph } from '../../command/table.js';
import { type AgentName, asTyped } from '../../plugin/agent.js';
import type { Done } from '../../plugin/change.js';
import type { Trouble } from '../../plugin/installation.js';

export function doneLines(done: readonly Done[]): string[] {
  return done.map(({ command, fault }) => `${asTyped(command)}${fault === null ? '' : `\n    ${fault}`}`);
}

export function doneValue({ command, fault }: Done) {
  return { command: asTyped(command), fault };
}

export function troubleLines(
  trouble: readonly (Trouble & { readonly agent: AgentName | null })[],
  { io, redact }: CommandContext,
): string[] {
  return trouble.map(({ agent, found, remedy }) =>
    paragraph(redact(`${agent === null ? '' : `${agent}: `}${found}\n→ ${remedy}`), io, '    '),
  );
}
