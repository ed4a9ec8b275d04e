import { trimEvent } from '../../journal/lineOf.js';
import type { JournalEvent } from '../../journal/schema.js';
import type { Redact } from '../../journal/trim.js';
import type { Draft, Hints } from './draft.js';

/** Makes the drafts of one record. */
export type Say = (event: JournalEvent, hints?: Hints) => Draft;

/** @param time UTC epoch milliseconds */
export function draftOf(time: number, event: JournalEvent, hints: Hints, redact: Redact, ordinal = 0): Draft {
  return { time, ordinal, event: trimEvent(event, redact), hints };
}
