/** Secrets that show only once Markdown is rendered: an escaped `\_`, a style in the middle, or `&#95;` hides them before. */
import type { Redact } from '../../../src/log/redact.js';
import { decoded } from './inline.js';
import { unescaped } from './markdown.js';
import { type Line, plainLines, plainOf } from './styledText.js';

/**
 * Parts that are not rendered still appear in a file, and in an answer that is sent unrendered: a link's title, the words
 * behind a code block's language.
 *
 * @returns `markdown` itself if no secret is written in it with escapes; else all of it without them
 */
export function withoutEscapedSecrets(markdown: string, redact: Redact): string {
  const meant = unescaped(markdown);
  return isClean(meant, redact) ? markdown : redact(meant);
}

/** @returns `lines` itself if it shows no secret; a line that shows one loses its styles */
export function linesWithoutSecrets(lines: readonly Line[], redact: Redact): readonly Line[] {
  if (isClean(everythingIn(lines), redact)) return lines;
  const each = lines.map((line) => (isClean(everythingIn([line]), redact) ? line : plainLine(line, redact)));
  if (isClean(plainOf(each), redact)) return each;
  // A secret of several lines, such as a private key.
  return plainLines(redact(plainOf(each)));
}

function plainLine(line: Line, redact: Redact): Line {
  return { ...line, spans: [{ text: redact(plainOf([line])) }] };
}

/** The text, and the targets of its links. */
function everythingIn(lines: readonly Line[]): string {
  const addresses = lines.flatMap(({ spans }) =>
    spans.flatMap(({ href }) => (href === undefined ? [] : [decoded(href)])),
  );
  return [plainOf(lines), ...addresses].join('\n');
}

function isClean(text: string, redact: Redact): boolean {
  return redact(text) === text;
}
