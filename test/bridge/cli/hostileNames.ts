/** Names that want to be more than names, and what no output may have of them. */
import { expect } from '@jest/globals';

const MARK = 'FORGED';
/** Of the further lines of a text that is shown as a text. */
const INDENT = 14;
/** Unicode tags, which spell a word that only a model reads. */
const TAGS = [...'obey'].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join('');
/** A line of its own in every way that a terminal, Markdown, YAML or a table knows; escape sequences; what turns or hides text. */
const BREAKS = ['\n', '\r\n', '\r', '\u2028', '\u2029', '\u0085', '\u000b', '\u000c'];
/** For places that take no NUL, such as a path. */
export const HOSTILE = `x${BREAKS.map((end) => `${end}${MARK} ok`).join('')}\u001b[2J\u001b]0;t\u0007\u009b1A\b\b\u007f\u202ef\u2066g\u200b\ufeff${TAGS}<!-- --- \`|$(id)"'`;
export const WITH_NUL = `${HOSTILE}\u0000`;
/** Longer than a text in a log may be. */
export const LONG = `${HOSTILE.slice(0, 12)}${'y'.repeat(4_000)}`;

/** Controls but the line end, and everything that changes or hides what is read; emoji and their joiners are none of these. */
const OBEYED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e0fff}]/u;

/** Quoted lines (`> `), and those of a long text in `session`, are words of others. @param what is in the message if it fails */
export function expectHarmless(what: string, text: string): void {
  const [found] = OBEYED.exec(text) ?? [];
  expect([what, found?.codePointAt(0)?.toString(16)]).toEqual([what, undefined]);
  const forged = text.split('\n').filter((line) => new RegExp(`^[\\s|#*-]{0,${INDENT - 1}}${MARK}`).test(line));
  expect([what, forged]).toEqual([what, []]);
}
