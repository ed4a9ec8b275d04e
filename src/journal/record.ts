/** One line of a journal, or of another program's transcript, as JSON. */
import { JOURNAL_VERSION } from './schema.js';

/** An object with unknown fields. */
export type JournalRecord = Readonly<Record<string, unknown>>;

const OPENING_BRACE = 0x7b;

/** @returns the record; null if the text is not a JSON object that begins with its brace */
export function parseRecord(text: string): JournalRecord | null {
  if (text.charCodeAt(0) !== OPENING_BRACE) return null;
  try {
    return JSON.parse(text) as JournalRecord;
  } catch {
    return null;
  }
}

/** Whether a newer version wrote the line. Only our own lines have both fields; other programs' may have their own `v`. */
export function isNewer({ v, event }: JournalRecord): boolean {
  return typeof v === 'number' && v > JOURNAL_VERSION && typeof event === 'string';
}
