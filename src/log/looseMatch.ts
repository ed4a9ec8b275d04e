/**
 * Compares a text with a secret of ours in spite of anything mixed into it: colours, line ends with the signs around them,
 * invisible signs, the ends of strings that a program joins, tags, the margins of a hex dump; and characters that are escaped on
 * their own.
 */
import { matchEnd, matchOf } from './stickyMatch.js';

const LINE_BREAK = String.raw`(?:\r?\n|(?:\\{1,15}r)?\\{1,15}n)`;
/** With the characters that may surround it. */
const LINE_END = String.raw`[ \t]{0,8}[\\=]{0,15}${LINE_BREAK}[ \t>|#*]{0,16}`;
const COLOUR = String.raw`(?:\u001b|\\{1,31}(?:u001b|x1b|033|e)|\^\[)\[[\d;]{0,20}[A-Za-z]`;
const UNSEEN =
  '[\\u00ad\\u034f\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff]|\\udb40[\\udc00-\\uddef]';
const JOINED = String.raw`\\{0,15}["'\`]\s{0,8}(?:[+.&]|\\{1,15}n|\\\n)?\s{0,40}\\{0,15}["'\`]`;
const TAG = '</?[a-z][^<>]{0,80}>|<!-- ?-->';
/** The characters of a line of a dump, and the position that begins the next one. */
const DUMP_LINE = String.raw`(?: {1,40}[|>]?.{1,16}[|<]?)?${LINE_BREAK}[ \t]{0,8}[0-9a-f]{4,8}:?`;
const SPACES = ' {1,4}';
const GAP = [DUMP_LINE, LINE_END, COLOUR, UNSEEN, JOINED, TAG, SPACES].join('|');
const GAP_HERE = new RegExp(`(?:${GAP})`, 'iy');
const GAP_BEFORE = new RegExp(`(?:${GAP})$`, 'i');
/** A space at which a list was wrapped. */
const WRAPPED = `(?<=,)${LINE_BREAK}[ \\t]{0,16}`;
const WRAPPED_HERE = new RegExp(WRAPPED, 'y');
const WRAPPED_BEFORE = new RegExp(`(?:${WRAPPED})$`);
const LONGEST_GAP = 100;
const MOST_GAPS = 4;
const ENTITIES: Readonly<Record<string, string>> = {
  colon: ':',
  sol: '/',
  period: '.',
  lowbar: '_',
  hyphen: '-',
  dash: '-',
  plus: '+',
  equals: '=',
  commat: '@',
  num: '#',
  excl: '!',
  dollar: '$',
  percnt: '%',
  ast: '*',
  quest: '?',
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  comma: ',',
  semi: ';',
};
/** One character, as HTML, URLs, JSON, programs and mails escape it. */
const ESCAPED = String.raw`&(?:amp;){0,2}#(?<decimal>\d{2,4});?|&(?:amp;){0,2}#x(?<hex>[0-9a-f]{2,4});?|&(?:amp;){0,2}(?<name>[a-z]{2,6});|%(?:25){0,3}(?<url>[0-9a-f]{2})|\\{1,31}u(?<json>[0-9a-f]{4})|\\{1,31}x(?<code>[0-9a-f]{2})|=(?<mail>[0-9a-f]{2})|\\{1,31}(?<plain>[^a-z0-9\s])`;
const ESCAPED_HERE = new RegExp(ESCAPED, 'iy');
const ESCAPED_BEFORE = new RegExp(`(?:${ESCAPED})$`, 'i');
const LONGEST_ESCAPE = 40;
/** The rest of a list of bytes that Node leaves out. */
const CUT_HERE = /,?\s{0,8}\.\.\. \d+ more (?:bytes?|items?)/y;
const LEAST_OF_CUT = 24;

/** @returns the end of the form's rest from `index` on, which begins at `at`; a negative number if the text differs */
export function endOfRest(text: string, at: number, form: string, index: number): number {
  let to = at;
  for (let next = index; next < form.length; next += 1) {
    const end = endOfCharacter(text, to, form.charAt(next));
    if (end < 0) return next >= LEAST_OF_CUT && matchEnd(CUT_HERE, text, to) > 0 ? to : -1;
    to = end;
  }
  return to;
}

/** @returns the position at which the form's beginning up to `index` begins that ends at `at`; a negative number if there is none */
export function beginOfHead(text: string, at: number, form: string, index: number): number {
  let from = at;
  for (let next = index - 1; next >= 0; next -= 1) {
    const begin = beginOfCharacter(text, from, form.charAt(next));
    if (begin < 0) return -1;
    from = begin;
  }
  return from;
}

function endOfCharacter(text: string, at: number, character: string): number {
  let to = at;
  for (let gaps = 0; gaps <= MOST_GAPS; gaps += 1) {
    if (text.charAt(to).toLowerCase() === character) return to + 1;
    const wrapped = character === ' ' ? matchEnd(WRAPPED_HERE, text, to) : 0;
    if (wrapped > 0) return wrapped;
    const escaped = matchOf(ESCAPED_HERE, text, to);
    if (escaped !== null && meaningOf(escaped) === character) return to + escaped[0].length;
    const end = matchEnd(GAP_HERE, text, to);
    if (end <= to) return -1;
    to = end;
  }
  return -1;
}

function beginOfCharacter(text: string, at: number, character: string): number {
  let from = at;
  for (let gaps = 0; gaps <= MOST_GAPS && from > 0; gaps += 1) {
    const escaped = ESCAPED_BEFORE.exec(text.slice(Math.max(0, from - LONGEST_ESCAPE), from));
    if (escaped !== null && meaningOf(escaped) === character) return from - escaped[0].length;
    if (text.charAt(from - 1).toLowerCase() === character) return from - 1;
    const wrapped = character === ' ' ? WRAPPED_BEFORE.exec(text.slice(Math.max(0, from - LONGEST_GAP), from)) : null;
    if (wrapped !== null) return from - wrapped[0].length;
    const gap = GAP_BEFORE.exec(text.slice(Math.max(0, from - LONGEST_GAP), from));
    if (gap === null || gap[0] === '') return -1;
    from -= gap[0].length;
  }
  return -1;
}

function meaningOf({ groups = {} }: RegExpExecArray): string {
  const { decimal, name, plain } = groups;
  if (plain !== undefined) return plain.toLowerCase();
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? '';
  const code = decimal ?? groups.hex ?? groups.url ?? groups.json ?? groups.code ?? groups.mail ?? '';
  return String.fromCharCode(Number.parseInt(code, decimal === undefined ? 16 : 10)).toLowerCase();
}
