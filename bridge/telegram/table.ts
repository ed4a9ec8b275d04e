/** A table as text in columns, for a font in which every letter is as wide. */

import { widthOf } from '../../src/textWidth.js';

export type Align = 'left' | 'center' | 'right';

/**
 * @param rows the head first; rows may be shorter than it
 * @returns lines of equal width, with a rule below the head
 */
export function alignedTable(rows: readonly (readonly string[])[], aligns: readonly Align[]): string {
  const widths = aligns.map((_, column) => Math.max(1, ...rows.map((row) => widthOf(row[column] ?? ''))));
  const lines = rows.map((row) => {
    const cells = widths.map((width, column) => padded(row[column] ?? '', width, aligns[column] ?? 'left'));
    return cells.join(' │ ').trimEnd();
  });
  const rule = widths.map((width) => '─'.repeat(width)).join('─┼─');
  return [lines[0] ?? '', rule, ...lines.slice(1)].join('\n');
}

function padded(text: string, width: number, align: Align): string {
  const room = width - widthOf(text);
  const before = align === 'left' ? 0 : align === 'right' ? room : Math.floor(room / 2);
  return ' '.repeat(before) + text + ' '.repeat(room - before);
}
