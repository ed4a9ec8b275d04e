/** The lines that the words of `plugin` print. */

import { shellLine } from '../../../src/log/shellWords.js';
import { oneLine } from '../../../src/log/visibleText.js';
import type { CommandContext } from '../../command/command.js';
import { paragraph } from '../../command/table.js';
import type { AgentLook, AgentName } from '../../plugin/agent.js';
import type { Done } from '../../plugin/change.js';
import type { Trouble } from '../../plugin/installation.js';

export function doneLines(done: readonly Done[]): string[] {
  return done.flatMap(({ command, fault }) => [shellLine(command), ...(fault === null ? [] : [`    ${fault}`])]);
}

export function doneValue({ command, fault }: Done) {
  return { command: shellLine(command), fault };
}

/** @returns a look as JSON has it: `is_unanswered` says that the empty values are no answer */
export function lookValue({ agent, plugins, marketplaces, unanswered, ...more }: AgentLook) {
  return {
    agent,
    plugins: plugins ?? [],
    marketplace: marketplaces?.[0] ?? null,
    is_unanswered: unanswered.length > 0,
    ...more,
  };
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
