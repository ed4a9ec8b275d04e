/**
 * Text that an attacker may have written, made harmless for an issue: it notifies nobody, links nothing, closes nothing
 * and cannot leave the place where it is put.
 */

const ZERO_WIDTH_SPACE = '\u200b';

/**
 * Breaks mentions, cross references (`#12`, `GH-1`, `owner/repo#1`, commit hashes), URLs and comment marks by zero-width
 * spaces. Closing verbs ("fixes #12") close nothing without a reference.
 */
export function defuse(text: string): string {
  return text
    .replace(/@(?=[A-Za-z0-9_-])/g, `@${ZERO_WIDTH_SPACE}`)
    .replace(/#(?=\d)/g, `#${ZERO_WIDTH_SPACE}`)
    .replace(/\b(GH-)(?=\d)/gi, `$1${ZERO_WIDTH_SPACE}`)
    .replace(/(?<![0-9A-Za-z_])[0-9a-f]{7,}(?![0-9A-Za-z_])/gi, (hash) =>
      hash.replace(/.{6}(?=.)/g, `$&${ZERO_WIDTH_SPACE}`),
    )
    .replaceAll('://', `:${ZERO_WIDTH_SPACE}//`)
    .replace(/\b(www)\./gi, `$1${ZERO_WIDTH_SPACE}.`)
    .replaceAll('-->', `--${ZERO_WIDTH_SPACE}>`)
    .replaceAll('<!--', `<!${ZERO_WIDTH_SPACE}--`);
}

/** @returns one line of Markdown that shows the text as it is, without markup of its own */
export function prose(text: string): string {
  // Entities first: a zero-width space inside `&commat;` would be undone by nothing, one inside `&amp;` would show.
  const escaped = oneLine(text)
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

/** Control characters and line ends become spaces; marks that turn the reading direction go. */
function oneLine(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
      .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
      .trim()
  );
}
