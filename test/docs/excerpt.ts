/** Excerpts in documents, held against what a program says now. */

/** What differs from one run to the next. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/^ *\d+\.\d s {2}/gm, '… s  '],
  [/\bprocess \d+/g, 'process …'],
  [/\b(?:within a second|(?:for|after) \d+ (?:s\b|seconds?))/g, 'for … s'],
  // A cell of a table, such as the time until a recovery.
  [/\| \d+ s \|/g, '| … s |'],
  [/\b\d\d:\d\d(?::\d\d)?\b/g, '…:…'],
  [/\w+, \d+ \w+ 20\d\d/g, '… day'],
  // Which fault comes first decides.
  [/(#|issues\/)\d+/g, '$1…'],
  [/127\.0\.0\.1:\d+/g, 'host'],
  [/file:\/\/\S*\/(?=demo-output)/g, 'file:///'],
];

/** @returns the lines that say something; one that goes on, indented like the demo's, is joined to the line before */
export function comparable(text: string): string[] {
  const joined = text.replace(/\n {10}(?=\S)/g, ' ');
  const plain = VARYING.reduce((words, [pattern, sign]) => words.replace(pattern, sign), joined);
  return plain.split('\n').filter((line) => line.trim() !== '');
}

/** @returns the text between two fences of a document, the first below a heading */
export function fencedBelow(document: string, heading: string, fence: string): string {
  const start = document.indexOf(`${heading}\n`);
  if (start < 0) throw new Error(`there is no heading ${heading}`);
  const from = document.indexOf(`\n${fence}`, start);
  const begin = document.indexOf('\n', from + 1) + 1;
  return document.slice(begin, document.indexOf(`\n${fence.replace(/\w+$/, '')}\n`, begin));
}

/**
 * @param excerpt `…` alone on a line stands for lines that are left out; before and behind it anything may stand
 * @returns its lines that do not follow in the text as they do here
 */
export function linesNotIn(text: string, excerpt: string): string[] {
  const lines = comparable(text);
  let next = 0;
  let isGap = true;
  return comparable(excerpt).filter((line) => {
    if (line.trim() === '…') {
      isGap = true;
      return false;
    }
    const at = isGap ? lines.indexOf(line, next) : next;
    const isThere = at >= 0 && lines[at] === line;
    isGap = false;
    if (isThere) next = at + 1;
    return !isThere;
  });
}
