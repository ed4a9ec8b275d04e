/**
 * The lines of a key, however they are printed: runs of base64 characters. They form a chain: each has the width of one of the last
 * ones, or stands in the same column, or has the same gap before it (keyGaps.ts).
 */
import { beginOfRun, behindEscape, CHARACTER, type Line, widthOf } from './keyCharacters.js';
import {
  beginOfGap,
  type Column,
  columnBehind,
  columnOf,
  endOfGap,
  hasHeader,
  isGap,
  isLineEnd,
  isNarrow,
  isOfHeaders,
  LONGEST_FIRST_GAP,
  LONGEST_GAP,
  lineEnds,
  MARK,
} from './keyGaps.js';
import { isVeryRandom } from './randomText.js';
import { matchEnd } from './stickyMatch.js';

/** Every format wraps keys at 64 characters or more, and hardly any word or name is as long as this. */
const LONG = 40;
/** A part of a line that a narrow terminal wrapped. */
const PART = 16;
/** Fewer characters open nothing. */
const LEAST_TORN = 8;
const LONGEST_SHORT = 200;
const LEAST_CHANGES = 0.3;
/** A line that was wrapped once or twice has as many widths and gaps. */
const REMEMBERED = 3;
/** The signs of a diff are base64 characters, too. */
const SIGNS = 2;
const RUN = new RegExp(`${CHARACTER}{${LEAST_TORN},}`, 'g');
const REST = new RegExp(`${CHARACTER}*`, 'y');
const REST_OF_SHORT = new RegExp(`${CHARACTER}{0,${LONGEST_SHORT}}`, 'y');
/** A line that has only base64 in it has nothing else behind it. */
const SHORT_LINE = new RegExp(`${CHARACTER}{1,${LONGEST_SHORT}}(?![\\w+/=])`, 'y');
const WORDS = /^\/?(?:(?:[A-Z]?[a-z]+|[A-Z]+|\d+)(?:\/|=|$))+$/;
const END_OF_TEXT = /\\{0,31}["'`]|\s{0,4}$|…|\.\.\./y;
const CUT_BEFORE = /(?:^|…|\.\.\.)\s*$/;
const QUOTE_BEFORE = /["'`]$/;

/** The lines of a key that are known, as far as the next one may be like them. */
export class Chain {
  readonly #gaps: string[];
  readonly #widths: number[] = [];
  #column: Column | null;
  #lines = 0;

  /** @param gaps as they may be between two lines */
  constructor(gaps: readonly string[] = []) {
    this.#gaps = [...gaps];
    this.#column = columnBehind(gaps[0] ?? '');
  }

  get gaps(): readonly string[] {
    return this.#gaps;
  }

  get lines(): number {
    return this.#lines;
  }

  /** @param gap between the line and the one that was added before; null if it is the first */
  add(width: number, gap: string | null): void {
    this.#lines += 1;
    this.#widths.unshift(width);
    this.#widths.splice(REMEMBERED);
    if (gap === null) return;
    this.#gaps.unshift(gap);
    this.#gaps.splice(REMEMBERED);
    this.#column = columnBehind(gap) ?? this.#column;
  }

  /** @param column where the line begins; null if it is not known */
  isLike(run: string, width: number, gap: string, column: Column | null): boolean {
    if (!isNarrow(gap) || !isRandom(run)) return false;
    if (this.isBelow(column) || width < PART) return this.isBelow(column);
    return isLineEnd(gap) || isVeryRandom(run) || this.#widths.some((each) => Math.abs(each - width) <= SIGNS);
  }

  /** @returns whether all printed lines between two of the key are also between others */
  isNext(gap: string): boolean {
    return this.#lines > 0 && lineEnds(gap) <= lineEnds(this.#gaps[0] ?? '');
  }

  isBelow(column: Column | null): boolean {
    if (column === null || this.#column === null) return false;
    const isNear = (one: number, other: number) => Math.abs(one - other) <= SIGNS;
    return isNear(column.at, this.#column.at) || isNear(column.withoutDigits, this.#column.withoutDigits);
  }
}

/** @returns the next line of the chain behind `from`, which is in the chain then; null if none is near */
export function lineBehind(text: string, from: number, chain: Chain): Line | null {
  const line = sameGapBehind(text, from, chain) ?? likeBehind(text, from, chain);
  if (line !== null) chain.add(widthOf(text, line), text.slice(from, line.begin));
  return line;
}

/** @returns the line of the chain that ends before `to`, which is in the chain then; null if none is near */
export function lineBefore(text: string, to: number, chain: Chain): Line | null {
  const line = sameGapBefore(text, to, chain) ?? likeBefore(text, to, chain);
  if (line !== null) chain.add(widthOf(text, line), text.slice(line.end, to));
  return line;
}

/** @returns the whole line around that place; only a part of it if it is much longer than a line of a key */
export function wholeLineAt(text: string, at: number): Line {
  return { begin: beginOfRun(text, at, Math.max(0, at - LONGEST_SHORT)), end: matchEnd(REST_OF_SHORT, text, at) };
}

/** @returns whether lines of base64 are on both sides of the place, as in the middle of a key */
export function isBetweenLines(text: string, at: number): boolean {
  const isLong = (part: string) => (part.match(RUN) ?? []).some(isLongOrRandom);
  return isLong(text.slice(Math.max(0, at - LONGEST_GAP), at)) && isLong(text.slice(at, at + LONGEST_GAP));
}

/** @returns whether the characters are no word, and not too few */
export function isTorn(line: string): boolean {
  return line.length >= LEAST_TORN && !WORDS.test(line);
}

function sameGapBehind(text: string, from: number, { gaps }: Chain): Line | null {
  for (const gap of gaps) {
    const begin = endOfGap(text, from, gap);
    if (begin < 0 || !isGap(text.slice(from, begin))) continue;
    const end = matchEnd(REST, text, begin);
    if (end - begin >= LONG && isRandom(text.slice(begin, end))) return { begin, end };
    const short = matchEnd(SHORT_LINE, text, begin);
    if (short > 0 && isShortLine(text, { begin, end: short }, gap)) return { begin, end: short };
  }
  return null;
}

/** @param line behind the same gap as others; the last one may be short, or it may be a word */
function isShortLine(text: string, { begin, end }: Line, gap: string): boolean {
  const line = text.slice(begin, end);
  if (line.length < LEAST_TORN) return false;
  if (matchEnd(END_OF_TEXT, text, end) > 0) return hasSigns(gap) || isTorn(line);
  return isRandom(line) || (isTorn(line) && (hasSigns(gap) || line.endsWith('=')));
}

function sameGapBefore(text: string, to: number, { gaps }: Chain): Line | null {
  for (const gap of gaps) {
    const end = beginOfGap(text, to, gap);
    if (end <= 0 || !isGap(text.slice(end, to))) continue;
    const begin = beginOfRun(text, end, 0);
    if (isTorn(text.slice(begin, end))) return { begin, end };
  }
  return null;
}

function likeBehind(text: string, from: number, chain: Chain): Line | null {
  const longest = chain.lines === 0 ? LONGEST_FIRST_GAP : LONGEST_GAP;
  const part = upToMark(text.slice(from, from + longest + LONG));
  for (const { index } of part.matchAll(RUN)) {
    const begin = behindEscape(text, from + index);
    const gap = text.slice(from, begin);
    if (!isGap(gap, longest)) return null;
    const line = { begin, end: matchEnd(REST, text, begin) };
    const width = widthOf(text, line);
    const run = text.slice(begin, line.end);
    const isFirst = chain.lines === 0 && isRandom(run) && isOfHeaders(gap);
    if (isFirst && width >= (hasHeader(gap) ? PART : LONG)) return line;
    const column = columnBehind(gap);
    if (chain.isLike(run, width, gap, column)) return line;
    // The last line may be short.
    const isLast = chain.isBelow(column) && matchEnd(END_OF_TEXT, text, line.end) > 0 && chain.isNext(gap);
    if (isLast && isTorn(run)) return line;
  }
  return null;
}

function likeBefore(text: string, to: number, chain: Chain): Line | null {
  const from = Math.max(0, to - LONGEST_GAP - LONG);
  for (const { index } of [...text.slice(from, to).matchAll(RUN)].reverse()) {
    const end = matchEnd(REST, text, from + index);
    const gap = text.slice(end, to);
    if (!isGap(gap)) return null;
    const begin = beginOfRun(text, from + index, 0);
    const line = { begin, end };
    const width = widthOf(text, line);
    const run = text.slice(begin, end);
    const before = text.slice(Math.max(0, begin - LONGEST_GAP), begin);
    const column = columnBehind(before) ?? columnOf(before);
    // The last line is shorter than the others, so two of them have no width to compare.
    if (chain.lines < 2 && width >= LONG && isRandom(run) && isNarrow(gap)) return line;
    const isFirst = CUT_BEFORE.test(before.slice(-8)) || (isLongOrRandom(run) && QUOTE_BEFORE.test(before.slice(-8)));
    const isLast = chain.lines === 0 && chain.isBelow(column);
    if ((isFirst || isLast) && isTorn(run) && isNarrow(gap)) return line;
    if (chain.isLike(run, width, gap, column)) return line;
  }
  return null;
}

function isLongOrRandom(run: string): boolean {
  return run.length >= LONG ? isRandom(run) : run.length >= PART && isVeryRandom(run);
}

/** Behind the end of a line alone, a word may follow. */
function hasSigns(gap: string): boolean {
  return /[^\s\\nr]/.test(gap);
}

/** No line of the same key is behind another mark, and a hostile text may consist of them. */
function upToMark(part: string): string {
  const at = part.search(MARK);
  return at < 0 ? part : part.slice(0, at);
}

/**
 * Paths and names have no upper case, no lower case or no digit. Random text of that length nearly always has all three. Long
 * random text without a digit changes its case at every second step, names at every fourth.
 */
function isRandom(line: string): boolean {
  if (!/[a-z]/.test(line) || !/[A-Z]/.test(line)) return false;
  if (/\d/.test(line)) return true;
  const changes = line.length < LONG ? [] : (line.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g) ?? []);
  return changes.length > line.length * LEAST_CHANGES;
}
