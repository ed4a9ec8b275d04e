/** How a value is written behind its name: in quotes at any depth of JSON inside JSON, or plain. */
import { isPlaceholder } from './innocentValues.js';
import { type FoundSecret, found, matchOf } from './stickyMatch.js';

/** Between name and value; a quote may close the name. */
export const SEPARATOR =
  /(\\{0,31}["'`])?\]?[ \t]{0,8}(=>|:=|=(?![=~])|:(?!:))[ \t]{0,8}(?:(?:&\w{1,30}|!!str)[ \t]{1,4})?/y;
export const QUOTE = /(\\{0,31})(["'`])/y;
/** Bounded, so that a text of nothing but names takes linear time; the rest of a longer value is included. */
export const PLAIN_VALUE = /(?:[^\s"'`\\,;&<>]|&(?![&\s]|$|[\w.%[\]-]{1,60}=|#?\w{2,8};)){1,128}/y;
export const LONGEST_PLAIN = 128;
const LONGEST_QUOTED = 16 * 1024;

export interface ValuePlace {
  readonly from: number;
  readonly isQuoted: boolean;
  /** `=` without spaces around it, as in an environment, a URL or an option. */
  readonly isTight: boolean;
  /** Up to the end of an element of XML. */
  readonly isElement?: boolean;
}

/** @param at where the value begins, perhaps with a quote */
export function valuePlace(text: string, at: number, isTight: boolean): ValuePlace {
  const quote = matchOf(QUOTE, text, at);
  return { from: at + (quote?.[0].length ?? 0), isQuoted: quote !== null, isTight };
}

/**
 * @param from after an opening quote that has `n` backslashes before it
 * @returns the position of its closing quote, or of the line's end. A run of backslashes before a quote closes the text if `n`
 *   remain after removing pairs of escaped ones, or if it is shorter: then an outer text ends
 */
export function quotedEnd(text: string, from: number): number {
  const quote = text.charAt(from - 1);
  let depth = 0;
  while (text.charAt(from - 2 - depth) === '\\') depth += 1;
  const limit = Math.min(text.length, from + LONGEST_QUOTED);
  for (let at = from; at < limit; at += 1) {
    const character = text.charAt(at);
    if (character === '\n' || character === '\r') return at;
    if (character === quote && depth === 0) return at;
    if (character !== '\\') continue;
    const run = at;
    while (text.charAt(at) === '\\') at += 1;
    const length = at - run;
    if (text.charAt(at) !== quote && text.charAt(at) !== '"') continue;
    if (length <= depth || length % (2 * (depth + 1)) === depth) return run + (length <= depth ? 0 : length - depth);
  }
  return limit;
}

/** @returns the match's last group, with which it ends; null without a match, and for a placeholder */
export function lastGroup(match: RegExpExecArray | null, at: number, kind: string): FoundSecret | null {
  const value = match?.at(-1) ?? '';
  if (match === null || isPlaceholder(value)) return null;
  return found(at + match[0].length - value.length, value, kind);
}
