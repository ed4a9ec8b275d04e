/**
 * The lines of a key, in whatever they are printed: runs of base64 characters, and the gaps between them.
 *
 * A gap is the end of one printed line and the beginning of the next: quotes, a line number, a diff sign, a stamp, colours. Within one
 * text all gaps have the same shape.
 */
import { matchEnd, matchOf } from './stickyMatch.js';

export interface Line {
  readonly begin: number;
  readonly end: number;
}

/** Every format wraps keys at 64 characters or more, and hardly any word or name is as long as this. */
const LONG = 40;
/** With a stamp, a path and colours. */
const LONGEST_GAP = 400;
/** Headers of PGP, and tables with a rule between their rows. */
const MOST_LINE_ENDS = 12;
/** Fewer characters open nothing. */
const LEAST_TORN = 8;
/** A base64 character, also as JSON, URLs and HTML write those that are not letters or digits. */
const CHARACTER = String.raw`(?:[A-Za-z0-9+/=]|\\{1,31}(?:/|u00(?:2[bBfF]|3[dD]))|%(?:2[BbFf]|3[Dd])|&#(?:43|47|61|x2[bBfF]|x3[dD]);)`;
const ESCAPED_CHARACTER = new RegExp(CHARACTER.replace('[A-Za-z0-9+/=]|', ''), 'g');
const LONGEST_SHORT = 200;
const LONG_LINE = new RegExp(`${CHARACTER}{${LONG}}`, 'g');
const REST = new RegExp(`${CHARACTER}*`, 'y');
const REST_OF_SHORT = new RegExp(`${CHARACTER}{0,${LONGEST_SHORT}}`, 'y');
const LINE_END = /\r?\n|\\{1,31}n|%0[Aa]|<br/g;
const LINE_END_HERE = /\r?\n|\\{1,31}n|%0[Aa]|<br ?\/?>/y;
const LAST_LINE = /(?:\r?\n|\\{1,31}n|%0[Aa]|<br ?\/?>)((?:(?!\n|\\{1,31}n|%0[Aa]|<br).)*)$/s;
const REST_OF_LINE = /(?:(?!\\{1,31}n|%0[Aa]|<br)[^\r\n]){0,200}/y;
/** The first or last line of a block, and of the private part of a key of PuTTY. */
const MARK = /-{4,5} ?(?:BEGIN|END)|Private-/;
/** A line that has only base64 in it goes on with nothing else. */
const BEHIND = '(?![\\w+/=])';
const SHORT_LINE = new RegExp(`${CHARACTER}{1,${LONGEST_SHORT}}${BEHIND}`, 'y');
const PLAIN_WORD = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d+)$/;
const CUT_BEFORE = /(?:^|…|\.\.\.)\s*$/;
/** The end of an escape sequence, which is made of base64 characters, too. */
const REST_OF_ESCAPE = /u000[aAdD]|[nrt]/y;
const COLOUR_BEFORE = /\[[\d;]*;$/;
const REST_OF_COLOUR = /[\d;]{0,12}m/y;

/**
 * @param gap the one before, or as it may be; null if nothing is known of it
 * @returns the next line behind `from`; null if none is near
 */
export function lineBehind(text: string, from: number, gap: string | null): Line | null {
  return longLineBehind(text, from, gap) ?? (gap === null ? null : shortLineBehind(text, from, gap));
}

/** @returns the line that ends before `to` and begins after `free`; null if none is near */
export function lineBefore(text: string, to: number, free: number, gap: string): Line | null {
  return longLineBefore(text, to, free, gap) ?? shortLineBefore(text, to, free, gap);
}

/** @returns the line of which a part is there; only a part of it if it is much longer than a line of a key */
export function wholeLineAt(text: string, at: number, free: number): Line {
  return { begin: beginOf(text, at, Math.max(free, at - LONGEST_SHORT)), end: matchEnd(REST_OF_SHORT, text, at) };
}

/** @returns the number of characters in the line, however they are escaped */
export function widthOf(text: string, { begin, end }: Line): number {
  return text.slice(begin, end).replace(ESCAPED_CHARACTER, '+').length;
}

export function gapBetween(text: string, line: Line, next: Line): string {
  return text.slice(line.end, next.begin);
}

/** @returns whether two gaps differ in numbers and indentation at most */
export function isSameGap(gap: string, other: string): boolean {
  return endOfGap(gap, 0, other) === gap.length;
}

/** @returns whether nothing else than the rest of a line and the beginning of another stands in it */
export function isGap(text: string): boolean {
  return text.length <= LONGEST_GAP && !MARK.test(text) && (text.match(LINE_END)?.length ?? 0) <= MOST_LINE_ENDS;
}

/**
 * @param begin of a mark
 * @param end of the mark
 * @returns what probably stands between two lines: what stands behind the mark in its line, the end of the line, and what stands
 *   before the mark in its line
 */
export function gapAround(text: string, begin: number, end: number): string {
  const before = text.slice(Math.max(0, begin - LONGEST_GAP / 2), begin);
  const [ended = '', prefix = before] = LAST_LINE.exec(before) ?? [];
  const behind = matchOf(REST_OF_LINE, text, end)?.[0] ?? '';
  const lineEnd =
    matchOf(LINE_END_HERE, text, end + behind.length)?.[0] ?? ended.slice(0, ended.length - prefix.length);
  return behind + (lineEnd || ' ') + prefix;
}

function longLineBehind(text: string, from: number, gap: string | null): Line | null {
  const part = text.slice(from, from + LONGEST_GAP + LONG);
  for (const { index, 0: found } of part.matchAll(LONG_LINE)) {
    const between = part.slice(0, index);
    if (!isGap(between)) return null;
    if (!isRandom(found) && (gap === null || !isSameGap(between, gap))) continue;
    return { begin: behindEscape(text, from + index), end: matchEnd(REST, text, from + index) };
  }
  return null;
}

function longLineBefore(text: string, to: number, free: number, gap: string): Line | null {
  const from = Math.max(free, to - LONGEST_GAP - LONG);
  for (const { index, 0: found } of [...text.slice(from, to).matchAll(LONG_LINE)].reverse()) {
    const end = matchEnd(REST, text, from + index);
    const between = text.slice(end, to);
    if (!isGap(between)) return null;
    if (!isRandom(found) && !isSameGap(between, gap)) continue;
    return { begin: beginOf(text, from + index, free), end };
  }
  return null;
}

function shortLineBehind(text: string, from: number, gap: string): Line | null {
  const begin = endOfGap(text, from, gap);
  const end = begin < 0 ? 0 : matchEnd(SHORT_LINE, text, begin);
  if (end === 0) return null;
  return isTorn(text.slice(begin, end), end === text.length || hasSigns(gap)) ? { begin, end } : null;
}

function shortLineBefore(text: string, to: number, free: number, gap: string): Line | null {
  const end = beginOfGap(text, to, gap);
  if (end <= free) return null;
  const begin = beginOf(text, end, Math.max(free, end - LONGEST_SHORT));
  const isFirst = CUT_BEFORE.test(text.slice(Math.max(0, begin - 8), begin));
  return isTorn(text.slice(begin, end), isFirst || hasSigns(gap)) ? { begin, end } : null;
}

/** @returns the end of the same gap there, in which numbers and indentation may differ; a negative number if there is another */
function endOfGap(text: string, from: number, gap: string): number {
  let at = from;
  for (let index = 0; index < gap.length; ) {
    const sort = sortOf(gap.charAt(index));
    if (sort === '' ? text.charAt(at) !== gap.charAt(index) : sortOf(text.charAt(at)) !== sort) return -1;
    do index += 1;
    while (sort !== '' && sortOf(gap.charAt(index)) === sort);
    do at += 1;
    while (sort !== '' && sortOf(text.charAt(at)) === sort);
  }
  return at;
}

/** @returns the beginning of the same gap that ends there */
function beginOfGap(text: string, to: number, gap: string): number {
  let at = to - 1;
  for (let index = gap.length - 1; index >= 0; ) {
    const sort = sortOf(gap.charAt(index));
    if (sort === '' ? text.charAt(at) !== gap.charAt(index) : sortOf(text.charAt(at)) !== sort) return -1;
    do index -= 1;
    while (sort !== '' && sortOf(gap.charAt(index)) === sort);
    do at -= 1;
    while (sort !== '' && sortOf(text.charAt(at)) === sort);
  }
  return at + 1;
}

function sortOf(character: string): 'digit' | 'space' | '' {
  if (character >= '0' && character <= '9') return 'digit';
  return character !== '' && character.trim() === '' ? 'space' : '';
}

/** @param isSure whether no word can stand there instead */
function isTorn(line: string, isSure: boolean): boolean {
  return line.length >= LEAST_TORN && (isSure || !PLAIN_WORD.test(line));
}

/** A line of words has the same gap only if that is nothing but the end of a line. */
function hasSigns(gap: string): boolean {
  return /[^\s\\nr]/.test(gap);
}

/** Paths and names have no upper case, no lower case or no digit. Of random characters as many nearly always have all three. */
function isRandom(line: string): boolean {
  return /[a-z]/.test(line) && /[A-Z]/.test(line) && /\d/.test(line);
}

/** @param at within a line */
function beginOf(text: string, at: number, free: number): number {
  let begin = at;
  while (begin > free) {
    const length = lengthOfCharacterBefore(text, begin);
    if (length === 0 || begin - length < free) break;
    begin -= length;
  }
  return behindEscape(text, begin);
}

const ESCAPED = /\/|u00(?:2[bf]|3d)/iy;
const IN_ADDRESS = /2[bf]|3d/iy;
const ENTITY_BEFORE = /&#(?:43|47|61|x2[bf]|x3d);$/i;

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

/** @returns where the line begins, if a part of `\n`, `%0A` or a colour was taken for its beginning */
function behindEscape(text: string, begin: number): number {
  const before = text.charAt(begin - 1);
  if (before === '\\') return matchEnd(REST_OF_ESCAPE, text, begin) || begin;
  if (before === '%') return /^0[AaDd]/.test(text.slice(begin, begin + 2)) ? begin + 2 : begin;
  const isColour = before === '[' || (before === ';' && COLOUR_BEFORE.test(text.slice(Math.max(0, begin - 16), begin)));
  if (isColour) return matchEnd(REST_OF_COLOUR, text, begin) || begin;
  return begin;
}
