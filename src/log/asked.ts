/** A person's request, as far as it distinguishes one message from another. */
import type { Redact } from './redact.js';
import { shorten } from './shorten.js';

export const LONGEST_ASKED = 120;

/** @returns the beginning of a message in one line: redacted first, then cut. Untrusted. */
export function askedWords(messageText: string, redact: Redact): string {
  return shorten(redact(messageText).replace(/\s+/g, ' ').trim(), LONGEST_ASKED);
}
