/** The text between two lines of a key: the ends of printed lines with quotes, a line number, a diff sign, a stamp, colours. */
import { matchOf } from './stickyMatch.js';

/** With a stamp, a path and colours. */
export const LONGEST_GAP = 400;
/** With headers, too. */
export const LONGEST_FIRST_GAP = 1_200;
/** Headers of PGP, and tables with a rule between their rows. */
const MOST_LINE_ENDS = 12;
/** Between two lines of a key, which another program may write between. */
const MOST_BETWEEN_LINES = 3;
/** Between the first line and the key: the beginning and the end of both printed lines, and one of another program. */
const MOST_OTHER_LINES = 3;
const END = String.raw`\r?\n|\\{1,31}(?:n|u000[aA]|x0[aA]|012)|%0[Aa]|<br ?/?>`;
const ENDS = new RegExp(END, 'g');
const END_HERE = new RegExp(END, 'y');
const LAST_LINE = new RegExp(`(?:${END})((?:(?!${END}).)*)$`, 's');
const REST_OF_LINE = new RegExp(`(?:(?!${END})[^\\r\\n]){0,200}`, 'y');
const REST_OF_PRINTED_LINE = /[^\r\n]{0,200}(?=(\r?\n)?)/y;
/** The first or last line of a block, and of the private part of a key of PuTTY. */
export const MARK = /-{4,5} ?(?:BEGIN|END)|Private-/;
const HEADER = /[A-Z][A-Za-z-]{2,20}: /;

/** @returns whether it holds only the rest of a line and the beginning of another */
export function isGap(gap: string, longest = LONGEST_GAP): boolean {
  return gap.length <= longest && lineEnds(gap) <= MOST_LINE_ENDS && !MARK.test(gap);
}

/** @returns whether two lines of a key may have it between them, although others have something else */
export function isNarrow(gap: string): boolean {
  return lineEnds(gap) <= MOST_BETWEEN_LINES;
}

/** @returns whether there is hardly anything in it but headers, empty lines, and what surrounds each line */
export function isOfHeaders(gap: string): boolean {
  const others = gap.split(ENDS).filter((line) => /[A-Za-z]/.test(line) && !HEADER.test(line));
  return new Set(others.map((line) => line.replace(/\d+/g, ''))).size <= MOST_OTHER_LINES;
}

export function hasHeader(gap: string): boolean {
  return HEADER.test(gap);
}

export function isLineEnd(gap: string): boolean {
  return lineEnds(gap) === 1 && gap.replace(ENDS, '').trim() === '';
}

/** Where a line begins: what is printed before it in its own line, and how long that is if all numbers have one digit. */
export interface Column {
  readonly at: number;
  readonly withoutDigits: number;
}

export function columnOf(prefix: string): Column {
  return { at: prefix.length, withoutDigits: prefix.replace(/[\d.]+/g, '0').length };
}

/** @returns the column where the next line begins; null if it is in the same printed line */
export function columnBehind(gap: string): Column | null {
  const prefix = LAST_LINE.exec(gap)?.[1];
  return prefix === undefined ? null : columnOf(prefix);
}

/** @returns what may be between two lines: the rest of the mark's line, its end, and the beginning of that line; escaped, too */
export function gapsAround(text: string, begin: number, end: number): string[] {
  const before = text.slice(Math.max(0, begin - LONGEST_GAP / 2), begin);
  const match = LAST_LINE.exec(before);
  const prefix = match?.[1] ?? before;
  const endBefore = before.slice(match?.index ?? 0, before.length - prefix.length);
  const behind = matchOf(REST_OF_LINE, text, end)?.[0] ?? '';
  const lineEnd = matchOf(END_HERE, text, end + behind.length)?.[0] ?? endBefore;
  const [printed = '', printedEnd = '\n'] = matchOf(REST_OF_PRINTED_LINE, text, end) ?? [];
  return [...new Set([behind + (lineEnd || ' ') + prefix, printed + printedEnd + prefix])];
}

export function lineEnds(gap: string): number {
  return gap.match(ENDS)?.length ?? 0;
}

/** @returns the end of the same gap there, whose numbers and indentation may differ; a negative number if there is another */
export function endOfGap(text: string, from: number, gap: string): number {
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

/** @returns the beginning of the same gap that ends there; a negative number if there is another */
export function beginOfGap(text: string, to: number, gap: string): number {
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
  // A whole number may be without its fraction.
  if ((character >= '0' && character <= '9') || character === '.') return 'digit';
  return character !== '' && character.trim() === '' ? 'space' : '';
}
