/**
 * Prepares the words of people, tools and agents for display: they are read, never obeyed, and must not contain anything
 * invisible. A language model that gets the text can still read invisible characters: Unicode tags spell whole instructions.
 */
import { lazily } from '../lazily.js';

/** Control characters, including escape sequences, and characters that change the reading direction; not tab and line end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Tags, zero-width and filler characters, variation selectors, and characters that change the reading direction: in Unicode
 * `Default_Ignorable_Code_Point`, and the marks of annotations. A table takes a tenth of the time of the pattern.
 */
// biome-ignore format: a table
const UNSEEN_RANGES: readonly (readonly [first: number, last: number])[] = [
  [0xad, 0xad], [0x34f, 0x34f], [0x61c, 0x61c], [0x115f, 0x1160], [0x17b4, 0x17b5], [0x180b, 0x180f], [0x200b, 0x200f],
  [0x202a, 0x202e], [0x2060, 0x206f], [0x3164, 0x3164], [0xfe00, 0xfe0f], [0xfeff, 0xfeff], [0xffa0, 0xffa0], [0xfff0, 0xfffb],
];
const UNSEEN_PAIR = lazily(() => /\p{Default_Ignorable_Code_Point}/u);
const FIRST_UNSEEN = 0xad;
const FIRST_PICTURE = 0xa9;
const KEYCAP = 0x20e3;
/** The first half of a tag or selector, of a sign of shorthand and of one of music. */
const HALVES = [0xdb40, 0xdb41, 0xdb42, 0xdb43, 0xd82f, 0xd834];
const CODES = 1 << 16;
/** The sorts of UTF-16 units. */
const [VISIBLE, UNSEEN, HALF] = [0, 1, 2];
const SORTS = new Uint8Array(CODES);
for (const [first, last] of UNSEEN_RANGES) SORTS.fill(UNSEEN, first, last + 1);
for (const code of HALVES) SORTS[code] = HALF;
/** Finds the first that can be one. Most texts have none; from there on a table is faster than a pattern of all of them. */
const CAN_BE_UNSEEN = /[^\0-\xac]/;
/** Pictures are joined and coloured by such characters. Patterns with properties of Unicode take long to make, and most texts need none. */
const [JOINER, NON_JOINER, COLOURED] = [0x200d, 0x200c, 0xfe0f];
const AFTER_PICTURE = lazily(() => /\p{Extended_Pictographic}\p{Emoji_Modifier}?$/u);
const AFTER_COLOURED_PICTURE = lazily(() => /\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?$/u);
const BEFORE_PICTURE = lazily(() => /^\p{Extended_Pictographic}/u);
const AFTER_KEY = /[0-9#*]$/;
/** Scripts whose words are written with joiners. */
const JOINED = 'Arabic Syriac Devanagari Bengali Gujarati Kannada Malayalam Sinhala Tamil Telugu'
  .split(' ')
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');
const LETTER_BEFORE = lazily(() => new RegExp(`[${JOINED}]$`, 'u'));
const LETTER_BEHIND = lazily(() => new RegExp(`^[${JOINED}]`, 'u'));
/** A picture with its colour, in UTF-16 units. */
const LONGEST_PICTURE = 5;

/** @returns the text without invisible characters, except those that an emoji or a script needs */
export function withoutInvisible(text: string): string {
  return replaceInvisible(text, () => '');
}

function replaceInvisible(text: string, by: (character: string) => string): string {
  let result = '';
  let copied = 0;
  const first = text.search(CAN_BE_UNSEEN);
  for (let begin = first < 0 ? text.length : first; begin < text.length; begin += 1) {
    const code = text.charCodeAt(begin);
    if (code < FIRST_UNSEEN) continue;
    const sort = SORTS[code];
    if (sort === VISIBLE) continue;
    const end = begin + (sort === UNSEEN ? 1 : 2);
    const stays = sort === UNSEEN ? isNeeded(text, begin, code) : !isUnseenPair(text, begin);
    if (stays) continue;
    if (copied < begin) result += text.slice(copied, begin);
    result += by(text.slice(begin, end));
    copied = end;
    begin = end - 1;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

function isUnseenPair(text: string, at: number): boolean {
  const point = text.codePointAt(at) ?? 0;
  return point >= CODES && UNSEEN_PAIR().test(String.fromCodePoint(point));
}

/** Whether the character at `begin` joins or colours its neighbour. */
function isNeeded(text: string, begin: number, code: number): boolean {
  if (code !== JOINER && code !== NON_JOINER && code !== COLOURED) return false;
  const last = begin === 0 ? 0 : text.charCodeAt(begin - 1);
  // Most outside pictures and words are seen at once by the character before them.
  if (SORTS[last] === UNSEEN && (last !== COLOURED || code === COLOURED)) return false;
  if (last < FIRST_PICTURE && (code !== COLOURED || text.charCodeAt(begin + 1) !== KEYCAP)) return false;
  const before = text.slice(Math.max(0, begin - LONGEST_PICTURE), begin);
  const behind = text.slice(begin + 1, begin + 3);
  if (code === COLOURED) {
    return AFTER_PICTURE().test(before) || (behind.startsWith('\u20e3') && AFTER_KEY.test(before));
  }
  if (code === JOINER && AFTER_COLOURED_PICTURE().test(before) && BEFORE_PICTURE().test(behind)) return true;
  return LETTER_BEFORE().test(before) && LETTER_BEHIND().test(behind);
}

/**
 * @param show writes a character so that it is seen
 * @returns the text with everything that a terminal would obey written as `\u001b`; JSON stays the same JSON
 */
export function visible(text: string, show: (character: string) => string = escaped): string {
  return replaceInvisible(text, show).replace(OBEYED, show);
}

/** As in JSON: a character beyond 16 bits becomes two. */
function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => written(unit.charCodeAt(0)))
    .join('');
}

function written(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

/** @returns the same in one line: a line end within a person's words would let them forge the next line */
export function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', ' ');
}

/** @returns whether a reader sees nothing of it: white space, control characters, invisible ones */
export function isBlank(text: string): boolean {
  return visible(text, () => '').trim() === '';
}
