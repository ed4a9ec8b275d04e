/**
 * Texts for people, as wide as their terminal, or 80 columns. Nothing of a cell is left out unless its table says so: a cell that
 * does not fit next to the others continues below, because people copy ids, addresses and paths. Scripts read `--json`.
 */
import type { Redact } from '../../src/log/redact.js';
import { oneLine } from '../../src/log/visibleText.js';
import { widthOf, widthOfLetter } from '../../src/textWidth.js';

/** If the terminal's width is unknown. */
const USUAL_COLUMNS = 80;
const FEWEST_COLUMNS = 40;
const GAP = '  ';
const INDENT = '    ';
/** A shrinking last column gets a line of its own before it becomes narrower than this. */
const NARROWEST = 20;
const CUT = '…';

/** Where lines go: `columns` is missing if that is no terminal. */
type Paper = { readonly columns?: number | undefined };

export interface TableLook {
  /** Maximum width of a line; unlimited if missing. */
  readonly columns?: number;
  /** A last cell that is too long stays as it is, is cut, or its words continue below. */
  readonly last?: 'stays' | 'cut' | 'wraps';
}

/** @returns the maximum width of a line for a person */
export function columnsOf({ columns }: Paper): number {
  return Math.max(columns || USUAL_COLUMNS, FEWEST_COLUMNS);
}

/** @returns the rows, one line each, columns as wide as their longest cell, no line end after the last */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { columns = Number.POSITIVE_INFINITY, last = 'stays' }: TableLook = {},
): string {
  const all = [head, ...rows.map((row) => row.map(oneLine))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ''))));
  const least = widths.map((width, column) =>
    last !== 'stays' && column === head.length - 1 ? Math.min(width, NARROWEST) : width,
  );
  const groups = inLines(least, columns);
  return all.flatMap((row) => groups.flatMap((group) => rowLines(row, group, { widths, columns, last }))).join('\n');
}

/** @returns which columns share a line, those of the first line first */
function inLines(widths: readonly number[], columns: number): number[][] {
  const groups: number[][] = [[]];
  let used = 0;
  for (const [column, width] of widths.entries()) {
    const group = groups.at(-1);
    if (group === undefined || (group.length > 0 && used + GAP.length + width > columns)) {
      groups.push([column]);
      used = INDENT.length + width;
      continue;
    }
    used += (group.length > 0 ? GAP.length : 0) + width;
    group.push(column);
  }
  return groups;
}

function rowLines(
  row: readonly string[],
  group: readonly number[],
  { widths, columns, last }: Required<TableLook> & { readonly widths: readonly number[] },
): string[] {
  const indent = group[0] === 0 ? '' : INDENT;
  const final = group.at(-1) ?? 0;
  const before = group.slice(0, -1).map((column) => `${padded(row[column] ?? '', widths[column] ?? 0)}${GAP}`);
  const begin = `${indent}${before.join('')}`;
  const cell = row[final] ?? '';
  const room = columns - widthOf(begin);
  if (final < widths.length - 1 || last === 'stays') return [`${begin}${cell}`];
  if (last === 'cut') return [`${begin}${cutToWidth(cell, room)}`];
  return wrapped(cell.split(' '), ' ', room).map(
    (line, index) => `${index === 0 ? begin : ' '.repeat(widthOf(begin))}${line}`,
  );
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(width - widthOf(text));
}

function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = CUT.length;
  for (const letter of text) {
    used += widthOfLetter(letter);
    if (used > width) break;
    kept += letter;
  }
  return `${kept.trimEnd()}${CUT}`;
}

/** @param parts of one line; in a terminal they continue below if it is too long */
export function fitted(parts: readonly string[], between: string, io: Paper, indent = INDENT): string {
  const words = parts.map(oneLine);
  if (io.columns === undefined) return words.join(between);
  const [first = '', ...more] = wrapped(words, between, columnsOf(io), indent.length);
  return [first, ...more.map((line) => `${indent}${line}`)].join('\n');
}

/** @returns a text for a person, as {@link fitted} word by word, all lines below the first indented */
export function paragraph(text: string, io: Paper, indent: string): string {
  const [first = '', ...more] = text.split('\n');
  return [first, ...more.map((line) => `${indent}${line}`)]
    .map((line) => fitted(line.split(' '), ' ', io, indent))
    .join('\n');
}

/** @returns texts of others as lines for a person, without secrets */
export function linesOf(texts: readonly string[], io: Paper, redact: Redact): string[] {
  return texts.map((text) => paragraph(redact(oneLine(text)), io, INDENT));
}

/** @returns lines of so many columns, those below the first shorter; a part that is wider than a line is not broken */
function wrapped(parts: readonly string[], between: string, columns: number, indent = 0): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const line = lines.at(-1);
    const room = columns - (lines.length > 1 ? indent : 0);
    if (line === undefined || widthOf(line) + widthOf(between) + widthOf(part) > room) lines.push(part);
    else lines[lines.length - 1] = `${line}${between}${part}`;
  }
  return lines;
}
