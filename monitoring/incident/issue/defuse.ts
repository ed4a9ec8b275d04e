/** Makes an attacker's text harmless for an issue: it notifies no one, links and closes nothing and cannot leave its place. */

import { withoutInvisible } from '../../../src/log/visibleText.js';

const ZERO_WIDTH_SPACE = '\u200b';
/** A name as `quotedName` writes it. */
const NAME_IN_SPAN = /`(?=[^`]*[./@])([\w.:/@-]{1,80})`/;

/** Breaks mentions, cross references (`#12`, `GH-1`, `owner/repo#1`, hashes), URLs and comment marks by zero-width spaces. */
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
      // Whatever precedes it: to GitHub a link may begin after an underscore as after a space.
      .replace(/(www)\./gi, `$1${ZERO_WIDTH_SPACE}.`)
      .replaceAll('-->', `--${ZERO_WIDTH_SPACE}>`)
      .replaceAll('<!--', `<!${ZERO_WIDTH_SPACE}--`)
  );
}

/** @returns one line of Markdown that shows the text literally, without markup of its own except the code spans of names */
export function prose(text: string): string {
  return oneLine(text)
    .split(NAME_IN_SPAN)
    .map((piece, index) => (index % 2 === 1 ? code(piece) : escapedProse(piece)))
    .join('');
}

function escapedProse(text: string): string {
  // Entities first: a zero-width space would not defuse `&commat;`, and one inside `&amp;` would show.
  const escaped = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[\\`*[\]|~$!]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&');
  return defuse(escaped);
}

export function code(text: string): string {
  const line = oneLine(text).replaceAll('`', "'");
  // Our own ids stay whole, so that they can be copied.
  return `\`${/^[\w-]+$/.test(line) ? line : defuse(line)}\``;
}

/** @returns the lines as a fenced block that nothing inside can close */
export function fenced(lines: readonly string[]): string {
  const text = lines.map((line) => defuse(oneLine(line))).join('\n');
  const longestRun = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longestRun + 1));
  return `${fence}text\n${text}\n${fence}`;
}

/** Control characters and line ends become spaces; invisible characters are removed. */
function oneLine(text: string): string {
  return (
    withoutInvisible(text)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
      .trim()
  );
}
