/** The ids of sessions that a caller begins: the day, and the words of the purpose. */
import { isSessionId } from '../../src/ids.js';
import type { Redact } from '../../src/log/redact.js';
import { cutText } from '../../src/log/shorten.js';
import { localDay } from '../../src/time.js';
import type { Stamp } from '../logs/line.js';

const LONGEST_SLUG = 40;
const EXPLICIT = /^\d{4}-\d{2}-\d{2}-[a-z0-9]+(-[a-z0-9]+)*$/;

/** @returns the id of a session that begins now; others may have it already */
export function explicitIdOf(purpose: string, { clock, redact }: Pick<Stamp, 'clock' | 'redact'>): string {
  // In the letters of the id: in others, which the redactor does not know, a token may be written as well.
  return `${localDay(clock.now())}-${slugOf(redact(purpose.normalize('NFKD')))}`;
}

/** @returns whether a caller may choose the id: it has the form of one, and no secret in it */
export function isExplicitId(id: string, redact: Redact): boolean {
  return EXPLICIT.test(id) && isSessionId(id) && redact(id) === id;
}

/**
 * @param purpose redacted: a secret must not become a part of a file name
 * @returns lower-case letters and digits, with `-` between words; `session` if nothing is left
 */
export function slugOf(purpose: string): string {
  const words =
    purpose
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  let slug = '';
  for (const word of words) {
    if (slug !== '' && slug.length + 1 + word.length > LONGEST_SLUG) break;
    slug = slug === '' ? cutText(word, LONGEST_SLUG) : `${slug}-${word}`;
  }
  return slug || 'session';
}
