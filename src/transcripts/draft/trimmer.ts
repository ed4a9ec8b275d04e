/** How much of a record a reader keeps. Drafts wait in memory until they are in order, so they must not hold long texts. */
import { trimEvent, trimItem } from '../../journal/lineOf.js';
import type { JournalEvent } from '../../journal/schema.js';
import type { Redact } from '../../log/redact.js';

export interface Trimmer {
  /** @returns the event, with no more of its texts than is needed, redacted before they were cut */
  event(event: JournalEvent): JournalEvent;
  /** @returns a title or a path, in the same way */
  item(text: string): string;
  /** @returns the id of a message, in the same way */
  id(text: string): string;
}

/** Keeps as much as a journal. */
export function journalTrimmer(redact: Redact): Trimmer {
  const item = (text: string) => trimItem(text, redact);
  return { event: (event) => trimEvent(event, redact), item, id: item };
}

/** Keeps as much as a journal, secrets included. */
export const AS_IT_IS = journalTrimmer((text) => text);
