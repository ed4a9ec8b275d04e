/** Journals such as a working agent writes. */
import type { JournalEvent } from '../src/journal/schema.js';

const TOOLS = ['Bash', 'Read', 'Edit', 'Grep'] as const;
/** What an agent reads is mostly longer than the 2,000 characters of a preview; half as much on average is kind to nobody. */
const OUTPUT = `${'    at compile (/srv/popoto/src/compiler/passes.ts:118:23)\n'.repeat(20)}1 file changed\n`;

/** Takes what happened: a journal's writer, or something that only keeps it. */
export interface Taker {
  append(event: JournalEvent): unknown;
}

/**
 * Writes one turn that goes on: a message, two calls of one batch and their results, again and again.
 * @param calls how many
 */
export function writeTurns(journal: Taker, calls: number): void {
  journal.append({ event: 'session_start', source: 'startup' });
  journal.append({ event: 'user_prompt', origin: 'human' });
  for (let call = 0; call < calls; call += 2) {
    journal.append({ event: 'assistant_message' });
    for (const each of [call, call + 1]) journal.append(requestOf(each));
    for (const each of [call, call + 1]) journal.append(resultOf(each));
  }
}

export function requestOf(call: number): JournalEvent {
  return {
    event: 'pre_tool_use',
    tool_use_id: `toolu_${call}`,
    tool_name: toolOf(call),
    tool_input: {
      command: `npm test -- --filter case-${call}`,
      description: 'Run the tests of one case',
      timeout: 120_000,
    },
    timeout_ms: 120_000,
    batch: `msg_${call >> 1}`,
  };
}

export function resultOf(call: number): JournalEvent {
  return {
    event: 'post_tool_use',
    tool_use_id: `toolu_${call}`,
    tool_name: toolOf(call),
    is_error: false,
    outcome: 'ok',
    tool_output_preview: `${call}\n${OUTPUT}`,
    duration_ms: 1_000 + call,
    batch: `msg_${call >> 1}`,
  };
}

function toolOf(call: number): string {
  return TOOLS[call % TOOLS.length] ?? TOOLS[0];
}
