import { trimEvent } from '../../journal/lineOf.js';
import type { JournalEvent } from '../../journal/schema.js';
import type { Redact } from '../../journal/trim.js';
import type { Draft, Hints } from './draft.js';

/** Makes the drafts of one record. */
export type Say = (event: JournalEvent, hints?: Hints) => Draft;

/** @param place its time, UTC epoch milliseconds, and its place among drafts of the same time */
export function draftOf(
  { time, ordinal = 0 }: { readonly time: number; readonly ordinal?: number },
  event: JournalEvent,
  hints: Hints,
  redact: Redact,
): Draft {
  return { time, ordinal, event: trimEvent(event, redact), hints };
}
