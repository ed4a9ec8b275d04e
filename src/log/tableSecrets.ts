/** Columns of tables and lists of secrets: the rows below a heading such as `name,username,password` or `| id | token |`. */
import { isPlaceholder } from './innocentValues.js';
import { looksRandom } from './randomText.js';
import { looksChosen } from './secretValues.js';
import { type FoundSecret, found, matchEnd, matchOf } from './stickyMatch.js';

const MOST_ROWS = 200;
/** Until the first secret. */
const MOST_ROWS_WITHOUT = 20;
const LONGEST_ROW = 1_000;
const LONGEST_HEADING = 400;
const LINE_END = /\r?\n/g;
/** Within a text of JSON, which a quote ends. */
const LINE_END_IN_TEXT = /(?:\\{1,31}r)?\\{1,31}n|(?=\\{0,31}")/g;
/** A line of nothing but names and their separators. */
const IN_HEADING = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[\w \t.,;|"'-]/.test(String.fromCharCode(code))),
);
/** Behind a name in a heading. */
const NEXT_IN_HEADING = /["']?[ \t]{0,40}(?:[,;|]|\t|\r?\n|\\)/y;
const NAME = /^[ \t]*["']?[A-Za-z_][\w .-]{0,60}["']?[ \t]*$/;
const RULE = /^[\s|+:=-]*$/;
const ITEM = /^([ \t]{0,20}-[ \t]{1,4}["']?)([^\s"'\\]{4,200})["']?\s*$/;
const VALUE = /^(\s*["']?)(.*?)(["']?\s*)$/s;

interface Row {
  readonly from: number;
  readonly to: number;
}

/** @returns the rows below the heading with that name, with their secrets replaced; null if there are none */
export function findInTable(text: string, start: number, end: number): FoundSecret | null {
  if (matchEnd(NEXT_IN_HEADING, text, end) === 0) return null;
  let to = end;
  while (to - end < LONGEST_HEADING && IN_HEADING[text.charCodeAt(to)] === 1) to += 1;
  if (!isLineEnd(text, to)) return null;
  let from = start;
  while (start - from < LONGEST_HEADING && from > 0 && IN_HEADING[text.charCodeAt(from - 1)] === 1) from -= 1;
  // The quote before a text of JSON.
  if (/^["'][^"']*$/.test(text.slice(from, to))) from += 1;
  const [separator] = /[,;|\t]/.exec(text.slice(from, to)) ?? [];
  if (separator === undefined) return null;
  const names = text.slice(from, to).split(separator);
  const column = text.slice(from, start).split(separator).length - 1;
  if (!areNames(names, separator)) return null;
  return replaceRows(text, to, (row) => {
    if (RULE.test(row)) return row;
    const cells = row.split(separator);
    if (cells.length !== names.length) return null;
    const [, opened = '', value = '', closed = ''] = VALUE.exec(cells[column] ?? '') ?? [];
    if (!isSecret(value)) return row;
    cells[column] = `${opened}[redacted:value]${closed}`;
    return cells.join(separator);
  });
}

const COLUMNS_BEHIND = /["'`]?(?:[ \t]{0,4},[ \t]{0,4}["'`]?\w{1,40}["'`]?){0,40}\s{0,4}\)\s{0,4}VALUES\s{0,4}\(/iy;
const COLUMNS_BEFORE = /\((?:["'`]?\w{1,40}["'`]?[ \t]{0,4},[ \t]{0,4}){0,40}["'`]?$/;
const FIELD =
  /[ \t]{0,4}(?:[EN]?\\{0,31}'((?:[^'\\]|'')*)\\{0,31}'|[^,()'\n]{0,100}|\w{1,20}\([^()]{0,100}\))[ \t]{0,4},?/y;
const LONGEST_COLUMNS = 400;

/** @returns the secret in `INSERT INTO users (name, password) VALUES ('me', 'SECRET')`; null if there is none */
export function findInInsert(text: string, start: number, end: number): FoundSecret | null {
  const values = matchEnd(COLUMNS_BEHIND, text, end);
  const columns = values === 0 ? null : COLUMNS_BEFORE.exec(text.slice(Math.max(0, start - LONGEST_COLUMNS), start));
  if (columns === null) return null;
  let at = values;
  for (let left = columns[0].split(',').length - 1; left > 0; left -= 1) at = matchEnd(FIELD, text, at) || at;
  const field = matchOf(FIELD, text, at);
  const value = field?.[1] ?? '';
  return isSecret(value) ? found(at + (field?.[0] ?? '').indexOf(value), value, 'value') : null;
}

/** A table with lines has nothing before its first and behind its last one. */
function areNames(cells: readonly string[], separator: string): boolean {
  const inner =
    separator === '|'
      ? cells.filter((cell, index) => cell.trim() !== '' || (index > 0 && index < cells.length - 1))
      : cells;
  return inner.length > 1 && inner.every((cell) => NAME.test(cell));
}

function isLineEnd(text: string, at: number): boolean {
  const code = text.charAt(at);
  return code === '\n' || code === '\r' || (code === '\\' && /^\\{1,31}[nr]/.test(text.slice(at, at + 32)));
}

const BEFORE_LIST = /[ \t]{0,4}:[ \t]{0,4}(?=\r?\n|\\{1,31}[nr])/y;

/** @returns the items of a list below the name, with their secrets replaced; null if there are none */
export function findInList(text: string, end: number): FoundSecret | null {
  BEFORE_LIST.lastIndex = end;
  if (!BEFORE_LIST.test(text)) return null;
  return replaceRows(text, BEFORE_LIST.lastIndex, (row) => {
    const [, before = '', value = ''] = ITEM.exec(row) ?? [];
    if (value === '') return null;
    return isSecret(value) ? row.replace(before + value, `${before}[redacted:value]`) : row;
  });
}

function isSecret(value: string): boolean {
  return !/\s/.test(value) && !isPlaceholder(value) && (looksChosen(value) || looksRandom(value));
}

/** @param at the end of the line above the rows @param change returns null if the table ended before the row */
function replaceRows(text: string, at: number, change: (row: string) => string | null): FoundSecret | null {
  let replacement = '';
  let count = 0;
  let from = -1;
  let copied = -1;
  for (const row of rowsBehind(text, at)) {
    if (from < 0) {
      from = row.from;
      copied = row.from;
    }
    const written = text.slice(row.from, row.to);
    const changed = change(written);
    count += 1;
    if (changed === null || count > (copied === from ? MOST_ROWS_WITHOUT : MOST_ROWS)) break;
    if (changed === written) continue;
    replacement += text.slice(copied, row.from) + changed;
    copied = row.to;
  }
  return copied === from ? null : { from, to: copied, replacement };
}

function* rowsBehind(text: string, at: number): Generator<Row> {
  const lineEnd = text.charAt(at) === '\\' ? LINE_END_IN_TEXT : LINE_END;
  let from = endOfLine(lineEnd, text, at)?.next ?? text.length;
  for (let count = 0; count < MOST_ROWS && from < text.length; count += 1) {
    const end = endOfLine(lineEnd, text, from);
    const to = end?.at ?? text.length;
    if (to - from > LONGEST_ROW) return;
    yield { from, to };
    if (end === null || end.next === end.at) return;
    from = end.next;
  }
}

function endOfLine(pattern: RegExp, text: string, from: number): { at: number; next: number } | null {
  pattern.lastIndex = from;
  const end = pattern.exec(text);
  return end === null ? null : { at: end.index, next: end.index + end[0].length };
}
