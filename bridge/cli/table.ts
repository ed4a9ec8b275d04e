import { oneLine } from '../../src/visibleText.js';

/**
 * @param head the names of the columns
 * @returns the rows, each in one line whatever its cells hold, under each other, columns as wide as their longest cell, no line end at the last row
 */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows.map((row) => row.map(oneLine))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row.map((cell, column) => (column === head.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '),
    )
    .join('\n');
}
