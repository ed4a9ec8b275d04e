/** Just enough Markdown to compare documents with code. */

/** @returns the cells of the first table below a heading, without its head */
export function tableBelow(text: string, heading: string): string[][] {
  const start = text.indexOf(`${heading}\n`);
  if (start < 0) throw new Error(`there is no heading ${heading}`);
  const lines = text.slice(start).split('\n');
  const first = lines.findIndex((line) => line.startsWith('|---'));
  const end = lines.findIndex((line, index) => index > first && !line.startsWith('|'));
  return lines.slice(first + 1, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

export function firstCells(rows: readonly string[][]): string[] {
  return rows.map(([cell = '']) => cell.replaceAll('`', ''));
}

/** @returns by the first cell, the first code span of the third */
export function defaultsIn(rows: readonly string[][]): Record<string, string | undefined> {
  return Object.fromEntries(rows.map((row) => [firstCells([row])[0], codeSpans(row[2] ?? '')[0]]));
}

export function codeSpans(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span ?? '');
}

export function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? '').filter((link) => !/^https?:/.test(link));
}

/** As GitHub makes them of headings. */
export function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
