/**
 * Text that an attacker may have written, made harmless for an issue: it notifies nobody, links nothing, closes nothing
 * and cannot leave the place where it is put.
 */

import { withoutInvisible } from '../../../src/log/visibleText.js';

const ZERO_WIDTH_SPACE = '\u200b';
/** A name as `quotedName` writes it. */
const NAME_IN_SPAN = /`(?=[^`]*[./@])([\w.:/@-]{1,80})`/;

/**
 * Breaks mentions, cross references (`#12`, `GH-1`, `owner/repo#1`, commit hashes), URLs and comment marks by zero-width
 * spaces. Closing verbs ("fixes #12") close nothing without a reference.
 */
export function defuse(text: string): string {
  return (
    text
      .replace(/@(?=[A-Za-z0-9_-])/g, `@${ZERO_WIDTH_SPACE}`)
      .replace(/#(?=\d)/g, `#${ZERO_WIDTH_SPACE}`)
      .replace(/(GH-)(?=\d)/gi, `$1${ZERO_WIDTH_SPACE}`)
      .replace(/(?<![0-9A-Za-z_])[0-9a-f]{7,}(?![0-9A-Za-z_])/gi, (hash) =>
        hash.replace(/.{6}(?=.)/g, `$&${ZERO_WIDTH_SPACE}`),
      )
      .replaceAll('://', `:${ZERO_WIDTH_SPACE}//`)
      // Whatever stands before it: to GitHub an underscore begins a link as a space does.
      .replace(/(www)\./gi, `$1${ZERO_WIDTH_SPACE}.`)
      .replaceAll('-->', `--${ZERO_WIDTH_SPACE}>`)
      .replaceAll('<!--', `<!${ZERO_WIDTH_SPACE}--`)
  );
}

/** @returns one line of Markdown that shows the text as it is, without markup of its own but the code spans of names */
export function prose(text: string): string {
  return oneLine(text)
    .split(NAME_IN_SPAN)
    .map((piece, index) => (index % 2 === 1 ? code(piece) : escapedProse(piece)))
    .join('');
}

function escapedProse(text: string): string {
  // Entities first: a zero-width space inside `&commat;` would be undone by nothing, one inside `&amp;` would show.
  const escaped = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[\\`*[\]|~$!]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&');
  return defuse(escaped);
}

/** @returns the text as an inline code span */
export function code(text: string): string {
  const line = oneLine(text).replaceAll('`', "'");
  // Ids of ours stay whole, so that they can be copied.
  return `\`${/^[\w-]+$/.test(line) ? line : defuse(line)}\``;
}

/** @returns the lines as a fenced block that nothing inside can close */
export function fenced(lines: readonly string[]): string {
  const text = lines.map((line) => defuse(oneLine(line))).join('\n');
  const longestRun = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longestRun + 1));
  return `${fence}text\n${text}\n${fence}`;
}

/** Control characters and line ends become spaces; what nobody sees goes. */
function oneLine(text: string): string {
  return (
    withoutInvisible(text)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
      .trim()
  );
}
