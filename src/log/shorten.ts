/**
 * The one place where texts are cut. A secret that is cut in half is no longer recognised, so the order is: redact the whole
 * text, then cut it. Use {@link headOf} for foreign text, `ForeignTail` for a stream, and the others for redacted text. Lengths
 * are UTF-16 units, as in JavaScript.
 */
import { isBetweenLines } from './keyLines.js';
import type { Redact } from './redact.js';

const CUT = '…';
/** So much next to the edge of a part of a text is not shown: no form of our own secrets is longer. */
export const TORN_EDGE = 1_024;
const LEAST_SEARCHED = 8 * 1_024;
/** If the first line of a key is cut off, only its last line shows that it is one. This is several times the longest key. */
const LONGEST_KEY = 256 * 1_024;

/** @returns at most `longest` UTF-16 units of `text`, which is redacted; never splits a surrogate pair */
export function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const last = text.charCodeAt(longest - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? longest - 1 : longest);
}

/** @param text redacted; cut to at most `longest` UTF-16 units, including a `…` at its end */
export function shorten(text: string, longest: number): string {
  return text.length <= longest ? text : cutText(text, longest - CUT.length) + CUT;
}

/** @returns at most `longest` UTF-16 units of a foreign text, without secrets. Only as much as is needed is searched */
export function headOf(text: string, longest: number, redact: Redact): string {
  for (let searched = Math.max(LEAST_SEARCHED, longest + 2 * TORN_EDGE); searched < text.length; searched *= 4) {
    if (searched < LONGEST_KEY && isBetweenLines(text, searched)) continue;
    const clean = redact(text.slice(0, searched));
    if (clean.length - TORN_EDGE >= longest) return cutText(clean, longest);
  }
  return cutText(redact(text), longest);
}

/** @param text redacted; its end is kept: at most `longest` UTF-16 units, including a `…` before it */
export function shortenToEnd(text: string, longest: number): string {
  return text.length <= longest ? text : CUT + lastOf(text, longest - CUT.length);
}

/** @returns at most the last `longest` UTF-16 units of `text`, which is redacted; never splits a surrogate pair */
export function lastOf(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const first = text.charCodeAt(text.length - longest);
  const splitsPair = first >= 0xdc00 && first <= 0xdfff;
  return text.slice(text.length - longest + (splitsPair ? 1 : 0));
}

/** A person's request, as far as it distinguishes one message from another. */
export const LONGEST_ASKED = 120;

/** @returns the beginning of a message in one line: redacted first, then cut. Untrusted. */
export function askedWords(messageText: string, redact: Redact): string {
  return shorten(redact(messageText).replace(/\s+/g, ' ').trim(), LONGEST_ASKED);
}
