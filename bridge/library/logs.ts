/**
 * Reads the logs of Watchkeeper, for other programs: `import { readJournal } from '@watchkeeper/watchkeeper/logs'`. Nothing is
 * written, and no file is locked. Fields may be added in any version; the ones here keep their meaning.
 */
import { worklogKind } from '../../memory/fold/rules/kind.js';
import { type DeclaredState, stateOf } from '../../memory/fold/state.js';
import { Log } from '../../memory/logs/log.js';
import { CriticalEventLog } from '../../monitoring/criticalEvents.js';
import { batchesOf, JournalTail } from '../../src/journal/reader.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import type { CriticalEvent } from './criticalEvent.js';

export type { CriticalEvent, CriticalEventName } from './criticalEvent.js';
export type { DeclaredState, JournalEvent };

export type JournalLine = JournalEvent & {
  readonly v: number;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly session_id?: string;
};

const EVENTS: Readonly<Record<JournalEvent['event'], true>> = {
  run_start: true,
  session_start: true,
  user_prompt: true,
  assistant_message: true,
  pre_tool_use: true,
  post_tool_use: true,
  wait_start: true,
  wait_end: true,
  turn_end: true,
  heartbeat: true,
  compaction: true,
  plan: true,
  files: true,
  usage: true,
  order: true,
  rewound: true,
  session_end: true,
};

/** The order of the log, each id once. @param since UTC epoch milliseconds; without it no archives @throws Error */
export function readCriticalEvents(file: string, since?: number): Promise<CriticalEvent[]> {
  return new CriticalEventLog(file, (text) => text).readRecentEvents(since);
}

/** Reads a journal, or a kept copy, to its present end. Skips what is no line of this version. */
export async function* readJournal(file: string): AsyncGenerator<JournalLine> {
  for await (const { records } of batchesOf(new JournalTail(file))) {
    for (const record of records) {
      const isKnown = typeof record.event === 'string' && Object.hasOwn(EVENTS, record.event);
      if (isKnown && typeof record.timestamp === 'string') yield record as unknown as JournalLine;
    }
  }
}

/** @returns as `state.json` has it; null if there is no such file @throws Error if it cannot be read, or is another user's */
export function readWorklog(file: string): DeclaredState | null {
  const log = Log.read(file, worklogKind);
  return log === null ? null : stateOf(log.state, log.at);
}
