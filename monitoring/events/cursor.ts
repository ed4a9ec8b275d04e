/**
 * A cursor: text that names an event, so that a reader in another process, after any number of restarts and archivings, resumes
 * behind it.
 *
 * `wk1:` + base64url of `{"id","first","end"}` + `.` + checksum. The event is found by its id, in whichever file it is now; the
 * rest saves the search. A damaged cursor fails its checksum, and the id of another log's event is not found: both are errors.
 * An event's own id works as a cursor, too, only slower.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { UsageError } from '../../src/errors.js';
import { parseJson } from '../../src/json.js';

/** The event that a reader has just passed, and its position at that time. */
export interface Place {
  readonly id: string;
  /** The id of the first event of its file: files that were made from each other share the bytes behind it. */
  readonly first: string | null;
  /** Offset behind the event's line in that file, in bytes. */
  readonly end: number;
}

/** Denotes the place before all events. */
export const START = 'start';

const PREFIX = 'wk1:';
const CURSOR = /^wk1:([A-Za-z0-9_-]+)\.([0-9a-f]{12})$/;
const PLACE = z.strictObject({ id: z.string().min(1), first: z.string().nullable(), end: z.int().nonnegative() });

/** @returns the cursor; {@link START} for null */
export function formatCursor(place: Place | null): string {
  if (place === null) return START;
  const { id, first, end } = place;
  const body = Buffer.from(JSON.stringify({ id, first, end })).toString('base64url');
  return `${PREFIX}${body}.${checksum(body)}`;
}

/** @param text a cursor, an event's id, or {@link START} @returns null for the beginning @throws UsageError */
export function parseCursor(text: string): Place | null {
  if (text === START) return null;
  if (!text.startsWith(PREFIX)) return { id: text, first: null, end: 0 };
  const [, body = '', sum = ''] = CURSOR.exec(text) ?? [];
  const { data } = PLACE.safeParse(parseJson(Buffer.from(body, 'base64url').toString('utf8')));
  if (data !== undefined && checksum(body) === sum) return data;
  throw new UsageError(
    `the cursor ${JSON.stringify(text.slice(0, 40))}… is damaged: give it exactly as it was printed, or start over with "${START}"`,
  );
}

function checksum(body: string): string {
  return createHash('sha256').update(`${PREFIX}${body}`).digest('hex').slice(0, 12);
}
