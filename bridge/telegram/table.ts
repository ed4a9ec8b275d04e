/** A table as text in columns, for a font in which every letter is as wide. */

export type Align = 'left' | 'center' | 'right';

/** East Asian letters and most signs of emoji take two columns (https://www.unicode.org/reports/tr11/). */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]/u;

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

function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) width += WIDE.test(letter) ? 2 : NO_WIDTH.test(letter) ? 0 : 1;
  return width;
}
