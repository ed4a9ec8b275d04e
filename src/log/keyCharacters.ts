/** Runs of base64 characters in a text, also as JSON, URLs and HTML write those that are neither letters nor digits. */
import { matchEnd } from './stickyMatch.js';

export interface Line {
  readonly begin: number;
  readonly end: number;
}

const ESCAPES = String.raw`\\{1,31}(?:/|u00(?:2[bBfF]|3[dD]))|%(?:2[BbFf]|3[Dd])|&#(?:43|47|61|x2[bBfF]|x3[dD]);`;
export const CHARACTER = `(?:[A-Za-z0-9+/=]|${ESCAPES})`;
const ESCAPED_CHARACTER = new RegExp(ESCAPES, 'g');
/** The end of an escape sequence, which is made of base64 characters, too. */
const REST_OF_ESCAPE = /u000[aAdD]|x0[aAdD]|01[25]|[nrt]/y;
const COLOUR_BEFORE = /\[[\d;]*;$/;
const REST_OF_COLOUR = /[\d;]{0,12}m/y;
const ESCAPED = /\/|u00(?:2[bf]|3d)/iy;
const IN_ADDRESS = /2[bf]|3d/iy;
const ENTITY_BEFORE = /&#(?:43|47|61|x2[bf]|x3d);$/i;
const LINE_END_IN_ADDRESS = /0[AaDd]/y;

/** @returns the number of characters in the line, however they are escaped */
export function widthOf(text: string, { begin, end }: Line): number {
  return text.slice(begin, end).replace(ESCAPED_CHARACTER, '+').length;
}

/** @param free it begins there at the earliest @returns where the run of base64 characters around `at` begins */
export function beginOfRun(text: string, at: number, free: number): number {
  let begin = at;
  while (begin > free) {
    const length = lengthOfCharacterBefore(text, begin);
    if (length === 0 || begin - length < free) break;
    begin -= length;
  }
  return behindEscape(text, begin);
}

/** @returns where the run really begins, if a part of `\n`, `%0A` or a colour was taken for its beginning */
export function behindEscape(text: string, begin: number): number {
  const before = text.charAt(begin - 1);
  if (before === '\\') return matchEnd(REST_OF_ESCAPE, text, begin) || begin;
  if (before === '%') return matchEnd(LINE_END_IN_ADDRESS, text, begin) || begin;
  const isColour = before === '[' || (before === ';' && COLOUR_BEFORE.test(text.slice(Math.max(0, begin - 16), begin)));
  return isColour ? matchEnd(REST_OF_COLOUR, text, begin) || begin : begin;
}

function lengthOfCharacterBefore(text: string, at: number): number {
  const before = text.charAt(at - 1);
  if (/[A-Za-z0-9+/=]/.test(before)) return 1;
  if (before === '%') return matchEnd(IN_ADDRESS, text, at) > 0 ? 1 : 0;
  if (before === ';') return ENTITY_BEFORE.exec(text.slice(Math.max(0, at - 7), at))?.[0].length ?? 0;
  if (before !== '\\' || matchEnd(ESCAPED, text, at) === 0) return 0;
  let length = 1;
  while (text.charAt(at - length - 1) === '\\') length += 1;
  return length;
}
