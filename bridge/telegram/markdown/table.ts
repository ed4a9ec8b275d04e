/** A table as text in columns, for a monospaced font. */

import { widthOf } from '../../../src/textWidth.js';

export type Align = 'left' | 'center' | 'right';

/** A wider cell juts out of its column, so that all other rows are not filled with blanks. */
const WIDEST_COLUMN = 60;
/** A longer table that is mostly blanks gets no columns: they would fill one message after the other. */
const ALWAYS_ALIGNED = 4_096;
const MOST_GROWTH = 3;

/** @returns lines with a rule below the head; of equal width if their cells are not too different */
export function alignedTable(rows: readonly (readonly string[])[], aligns: readonly Align[]): string {
  const widths = columnWidths(rows, aligns.length);
  const lines = rows.map((row) => {
    const cells = widths.map((width, column) => padded(row[column] ?? '', width, aligns[column] ?? 'left'));
    return cells.join(' │ ').trimEnd();
  });
  const rule = widths.map((width) => '─'.repeat(width)).join('─┼─');
  return [lines[0] ?? '', rule, ...lines.slice(1)].join('\n');
}

function columnWidths(rows: readonly (readonly string[])[], columns: number): number[] {
  const widths = Array.from({ length: columns }, () => 1);
  let letters = 0;
  for (const row of rows) {
    letters += columns;
    for (let column = 0; column < row.length; column += 1) {
      const width = widthOf(row[column] ?? '');
      letters += width;
      widths[column] = Math.max(widths[column] ?? 1, Math.min(width, WIDEST_COLUMN));
    }
  }
  const aligned = rows.length * widths.reduce((sum, width) => sum + width, 0);
  return aligned > Math.max(ALWAYS_ALIGNED, MOST_GROWTH * letters) ? widths.map(() => 1) : widths;
}

function padded(text: string, width: number, align: Align): string {
  const room = Math.max(width - widthOf(text), 0);
  const before = align === 'left' ? 0 : align === 'right' ? room : Math.floor(room / 2);
  return ' '.repeat(before) + text + ' '.repeat(room - before);
}
