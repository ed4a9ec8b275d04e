/** Journals for tests: literals, and random ones. */
import { isoTime, MINUTE, SECOND } from '../../../src/time.js';
import type { Random } from '../../src/journal/random.js';

export type Line = Readonly<Record<string, unknown>>;

export const START = Date.parse('2026-02-05T09:00:00.000Z');

/** @param seconds after {@link START} */
export function at(seconds: number): number {
  return START + seconds * SECOND;
}

/** @returns a line of version 1 */
export function line(seconds: number, event: string, rest: Line = {}): Line {
  return { v: 1, timestamp: isoTime(at(seconds)), event, session_id: 's1', ...rest };
}

export function prompt(seconds: number, origin = 'human', rest: Line = {}): Line {
  return line(seconds, 'user_prompt', { origin, ...rest });
}

export function call(seconds: number, id: string, rest: Line = {}): Line {
  return line(seconds, 'pre_tool_use', { tool_use_id: id, tool_name: 'Bash', tool_input: { command: id }, ...rest });
}

export function result(seconds: number, id: string, outcome = 'ok', rest: Line = {}): Line {
  const flags = { is_error: outcome === 'failed', outcome, tool_output_preview: `output of ${id}` };
  return line(seconds, 'post_tool_use', { tool_use_id: id, tool_name: 'Bash', ...flags, ...rest });
}

export function toText(lines: readonly Line[]): string {
  return lines.map((each) => `${JSON.stringify(each)}\n`).join('');
}

const HEARTBEATS = ['stream', 'record', 'bash_progress', 'hook', 'api_retry', 'step'];
const OUTCOMES = ['ok', 'ok', 'failed', 'failed', 'failed', 'rejected', 'cancelled'];

/** @returns a journal in time order in which no two lines share their instant */
export function randomJournal(random: Random, length: number): Line[] {
  const lines: Line[] = [line(0, 'session_start', { source: 'startup' }), prompt(0.001)];
  const open: { id: string; agent: Line }[] = [];
  let seconds = 1;
  for (let index = 0; index < length; index += 1) {
    seconds += (random.below(10) === 0 ? random.below(8 * MINUTE) : random.below(20 * SECOND)) / SECOND + 0.001;
    lines.push(randomLine(random, seconds, index, open));
  }
  return lines;
}

function randomLine(random: Random, seconds: number, index: number, open: { id: string; agent: Line }[]): Line {
  const dice = random.below(100);
  const agent: Line = random.below(5) === 0 ? { agent_id: `a${random.below(2)}`, parent_tool_use_id: 'c1' } : {};
  const kind = random.pick(['permission', 'user', 'rate_limit', 'child']);
  const ofCall = open.length > 0 && random.below(2) === 0 ? { tool_use_id: random.pick(open).id } : {};
  if (dice < 30) {
    const batch = random.below(3) === 0 ? {} : { batch: `b${Math.floor(index / 3)}` };
    open.push({ id: `c${index}`, agent });
    const input = { command: `step ${random.below(3)}` };
    return call(seconds, `c${index}`, { ...agent, ...batch, tool_input: input, tool_output_preview: 'same' });
  }
  if (dice < 62 && open.length > 0) {
    const [done] = open.splice(random.below(open.length), 1);
    return result(seconds, done?.id ?? 'c0', random.pick(OUTCOMES), { ...done?.agent, tool_output_preview: 'same' });
  }
  if (dice < 75) return line(seconds, 'heartbeat', { source: random.pick(HEARTBEATS), ...agent });
  if (dice < 82) return line(seconds, 'assistant_message', agent);
  if (dice < 86) return line(seconds, 'wait_start', { kind, ...ofCall, ...agent });
  if (dice < 90) return line(seconds, 'wait_end', { kind, ...ofCall, ...agent });
  if (dice < 93) return prompt(seconds, random.pick(['human', 'machine']));
  if (dice < 95) return line(seconds, 'turn_end', { reason: 'end_turn', ...agent });
  if (dice < 96) return line(seconds, 'session_start', { source: random.pick(['resume', 'compact']) });
  return line(seconds, random.pick(['compaction', 'mystery']), {});
}
