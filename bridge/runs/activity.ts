/** What a run is doing now, for the progress message, `/status` and the lease. Kept in memory only. */
import type { Redact } from '../../src/log/redact.js';
import { headOf, shorten } from '../../src/log/shorten.js';
import type { Clock } from '../../src/time.js';
import type { AgentEvent } from '../agents/program/contract.js';
import type { Activity } from '../chat/progressView.js';

/** The mutable form of an activity; all instants in epoch milliseconds. */
export type LiveActivity = { -readonly [Name in keyof Activity]: Activity[Name] } & {
  lastEventAt: number;
  lastCallAt: number | null;
};

const LONGEST_WORDS = 120;
/** Most of a text may be white space. */
const LONGEST_READ = 2_000;

/** @param now epoch milliseconds, as everywhere in this file */
export function startActivity(now: number): LiveActivity {
  return { startedAt: now, lastEventAt: now, calls: 0, lastCallAt: null, tool: null, note: null };
}

export interface NoteContext {
  readonly clock: Pick<Clock, 'now'>;
  /** Applied before anything is cut, because half of a secret is not recognised any more. */
  readonly redact: Redact;
}

export function noteActivity(activity: LiveActivity, event: AgentEvent, { clock, redact }: NoteContext): void {
  const now = clock.now();
  activity.lastEventAt = now;
  if (event.type === 'note') activity.note = oneLine(event.text, redact);
  if (event.type !== 'journal') return;
  const line = event.line;
  if (line.event === 'pre_tool_use') {
    activity.calls += 1;
    activity.lastCallAt = now;
    activity.tool = oneLine(`${line.tool_name}${describeInput(line.tool_input)}`, redact);
    activity.startedAt = now;
  }
  if (line.event === 'post_tool_use') {
    activity.tool = null;
    activity.startedAt = now;
  }
}

/** The most informative word of an input; the rest is in the journal. */
function describeInput(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  const fields = input as Record<string, unknown>;
  const telling = ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'description'];
  const found = telling.map((name) => fields[name]).find((value) => typeof value === 'string');
  return typeof found === 'string' ? `: ${found}` : '';
}

function oneLine(text: string, redact: Redact): string {
  return shorten(headOf(text, LONGEST_READ, redact).replace(/\s+/g, ' ').trim(), LONGEST_WORDS);
}
