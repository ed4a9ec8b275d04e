/**
 * The one place in which texts are cut. A secret that is cut in half is no longer recognised, so the order is: redact the
 * whole, then cut. What has passed the redactor goes to {@link cutText} and {@link shorten}; any other text to
 * {@link headOf} and {@link tailOf}, or, where it is a stream, to `ForeignTail`. Lengths count UTF-16 units as JavaScript
 * does.
 */
import type { Redact } from './redact.js';

const CUT = '…';
/** At the edge of a part of a text there may be half of a secret; so much beside the edge is not shown. */
const TORN_EDGE = 1_024;
/** What is searched at least. */
const LEAST_SEARCHED = 8 * 1_024;

/** @returns at most `longest` UTF-16 units of `text`, which is redacted, never half of a surrogate pair */
export function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const last = text.charCodeAt(longest - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? longest - 1 : longest);
}

/** @returns `text`, which is redacted, if it is longer cut to at most `longest` UTF-16 units, `…` at its end included */
export function shorten(text: string, longest: number): string {
  return text.length <= longest ? text : cutText(text, longest - CUT.length) + CUT;
}

/**
 * @param text of others, of any length
 * @returns its beginning without secrets, at most `longest` UTF-16 units. Of an endless text only as much is searched as
 *   is needed: more, if secrets filled most of the first part.
 */
export function headOf(text: string, longest: number, redact: Redact): string {
  for (let searched = Math.max(LEAST_SEARCHED, longest + 2 * TORN_EDGE); searched < text.length; searched *= 4) {
    const clean = redact(text.slice(0, searched));
    if (clean.length - TORN_EDGE >= longest) return cutText(clean, longest);
  }
  return cutText(redact(text), longest);
}

/**
 * @param text of others, from its own beginning on: its front was not cut before
 * @returns its end without secrets, at most `longest` UTF-16 units, never half of a surrogate pair
 */
export function tailOf(text: string, longest: number, redact: Redact): string {
  return lastOf(redact(text), longest);
}

/** @returns `text`, which is redacted, if it is longer its end: at most `longest` UTF-16 units, `…` before it included */
export function shortenToEnd(text: string, longest: number): string {
  return text.length <= longest ? text : CUT + lastOf(text, longest - CUT.length);
}

/** @returns at most the last `longest` UTF-16 units of `text`, which is redacted */
export function lastOf(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const first = text.charCodeAt(text.length - longest);
  const splitsPair = first >= 0xdc00 && first <= 0xdfff;
  return text.slice(text.length - longest + (splitsPair ? 1 : 0));
}
