/** Journals such as a working agent writes. */
import { lineOf, trimEvent } from '../src/journal/lineOf.js';
import type { JournalEvent } from '../src/journal/schema.js';
import { SECOND } from '../src/time.js';

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

/** Between two lines. */
const PACE_MS = 2 * SECOND;
const SHORT_OUTPUT = 'ok 17 passed, 0 failed';

/**
 * @param calls how many
 * @param lastActivity the instant of the last line, UTC epoch milliseconds
 * @returns a journal whose turn goes on; its outputs are short, so that thousands of them fit on any disk
 */
export function journalText(sessionId: string, calls: number, lastActivity: number): string {
  const events: JournalEvent[] = [];
  writeTurns({ append: (event) => events.push(event) }, calls);
  const from = lastActivity - (events.length - 1) * PACE_MS;
  return events.map((event, index) => `${lineOf(shortened(event), from + index * PACE_MS, sessionId)}\n`).join('');
}

/** @returns a line that an agent at work adds to its journal */
export function activityLine(sessionId: string, time: number): string {
  return `${lineOf({ event: 'assistant_message' }, time, sessionId)}\n`;
}

function shortened(event: JournalEvent): JournalEvent {
  if (event.event !== 'post_tool_use') return trimEvent(event, (text) => text);
  return trimEvent({ ...event, tool_output_preview: `${event.tool_use_id} ${SHORT_OUTPUT}` }, (text) => text);
}
