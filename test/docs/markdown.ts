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

export interface Prose {
  readonly kind: 'paragraph' | 'item';
  /** In one line, without its bullet and the targets of its links. */
  readonly text: string;
}

/** @returns the paragraphs and the items of lists, without headings, tables and blocks of code */
export function proseIn(text: string): Prose[] {
  const found: { kind: Prose['kind']; lines: string[] }[] = [];
  let isCode = false;
  let isOpen = false;
  for (const line of text.split('\n')) {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    const isItem = /^\s*(?:[-*]|\d+\.) /.test(line);
    if (isFence || isCode || /^\s*(?:$|\||#)/.test(line)) isOpen = false;
    else if (isOpen && !isItem) found.at(-1)?.lines.push(line.trim());
    else {
      found.push({ kind: isItem ? 'item' : 'paragraph', lines: [line.trim().replace(/^(?:[-*]|\d+\.) /, '')] });
      isOpen = true;
    }
  }
  return found.map(({ kind, lines }) => ({ kind, text: lines.join(' ').replace(/\]\([^)]*\)/g, ']') }));
}

/** @returns the lines of the blocks of shell commands, without comments; a line that continues the one before is joined to it */
export function commandsIn(text: string): string[] {
  const blocks = [...text.matchAll(/^ *```sh\n((?:.*\n)*?) *```$/gm)].map(([, block = '']) => block);
  return blocks.flatMap((block) =>
    block
      .replaceAll('\\\n', ' ')
      .split('\n')
      .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
      .filter((line) => line !== ''),
  );
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
