/** Finds private keys in a text: whole ones, and those whose first or last lines were cut off. */
import { type FoundSecret, matchEnd } from './stickyMatch.js';

/** The first line of a private key, of any kind. */
export const KEY_BEGINS = '-----BEGIN PRIVATE KEY-----';
const KEY_BEGUN = '-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----';
const KEY_ENDED = '-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----';
/** Between two lines of a key, as they are or as in JSON. */
const GAP = String.raw`(?:\s|\\{1,31}[nrt])`;
/** The characters between a key's first and last line, in contrast to source code that mentions one. */
const KEY_BODY = String.raw`(?:[^"'\`{}$;\\-]|\\{1,31}[nrt/]|-(?!----))*`;
const WHOLE_KEY = new RegExp(`${KEY_BEGUN}${KEY_BODY}${KEY_ENDED}`, 'y');
/** Cut off: the lines that belong to a key. */
const KEY_WITHOUT_END = new RegExp(
  String.raw`${KEY_BEGUN}(?:${GAP}+(?:[A-Za-z0-9+/=]{8,}(?=${GAP}|["'\\]|$)|[A-Za-z-]{3,20}: [^\r\n"\\]*))+`,
  'y',
);
const OPEN_KEY = new RegExp(`(?:${KEY_BEGUN}${KEY_BODY}|-----BEGIN[A-Z0-9 ]{0,60}-{0,5})$`);
const END_OF_KEY = new RegExp(KEY_ENDED, 'y');
/** Backwards: a line end of a text, or of JSON. */
const LINE_END_BEFORE = /(?:\r?\n|(?:\\{1,15}r)?\\{1,15}n)[ \t]{0,40}$/;
const LINE_OF_KEY_BEFORE = /[A-Za-z0-9+/=]+$/;
const SHORTEST_LINE_OF_KEY = 40;
const LONGEST_LINE_OF_KEY = 80;
const LONGEST_LINE_END = 80;

/**
 * @param begin position of five dashes
 * @param free the text before it is replaced already
 * @returns the key that begins at the dashes, or that ends with them if its first lines were cut off
 */
export function findPrivateKey(text: string, begin: number, free: number): FoundSecret | null {
  const whole = matchEnd(WHOLE_KEY, text, begin) || matchEnd(KEY_WITHOUT_END, text, begin);
  if (whole > 0) return { from: begin, to: whole, replacement: '[redacted:private_key]' };
  const to = matchEnd(END_OF_KEY, text, begin);
  if (to <= 0) return null;
  // Its beginning was cut off before it came here.
  let from = begin;
  for (;;) {
    const end = LINE_END_BEFORE.exec(text.slice(Math.max(free, from - LONGEST_LINE_END), from));
    const lineEnd = from - (end?.[0].length ?? 0);
    const line = lineOfKeyBefore(text, lineEnd, free);
    if (end === null || line === 0 || (from !== begin && line < SHORTEST_LINE_OF_KEY)) break;
    from = lineEnd - line;
  }
  return from === begin ? null : { from, to, replacement: '[redacted:private_key]' };
}

/** @returns the length of the line that ends at `end`; the `n` of a `\n` in JSON is not part of it */
function lineOfKeyBefore(text: string, end: number, free: number): number {
  const begin = Math.max(free, end - LONGEST_LINE_OF_KEY);
  const line = LINE_OF_KEY_BEFORE.exec(text.slice(begin, end))?.[0].length ?? 0;
  return line > 0 && text.charAt(end - line - 1) === '\\' ? line - 1 : line;
}

/** @returns whether a private key begins in the text and continues after its end */
export function endsInsideKey(text: string): boolean {
  const begun = text.lastIndexOf('-----BEGIN');
  return begun >= 0 && OPEN_KEY.test(text.slice(begun));
}
