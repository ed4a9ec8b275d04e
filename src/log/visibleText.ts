/**
 * Prepares the words of people, tools and agents for display: they are read, never obeyed, and must not contain anything
 * invisible. A language model that gets the text can still read invisible characters: Unicode tags spell whole instructions.
 */

/** Control characters, including escape sequences, and characters that change the reading direction; not tab and line end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Combined characters that need an invisible one: joined and coloured emoji, and keycaps. */
const PICTURE = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?`;
const PICTURES = String.raw`${PICTURE}(?:\u200D${PICTURE})*|[0-9#*]\uFE0F\u20E3`;
/** Scripts whose words are written with joiners. */
const JOINED = 'Arabic Syriac Devanagari Bengali Gujarati Kannada Malayalam Sinhala Tamil Telugu'
  .split(' ')
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');
const JOINER = `(?<=[${JOINED}])[\\u200C\\u200D](?=[${JOINED}])`;
/** Tags, zero-width and filler characters, variation selectors, and characters that change the reading direction. */
const INVISIBLE = String.raw`[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]`;
/** Most texts contain none of them. */
const ANY_INVISIBLE = new RegExp(INVISIBLE, 'u');
/** Made for the first text that contains one: it takes a thousandth of a second. */
let keptOrInvisible: RegExp | null = null;

/** @returns the text without invisible characters, except those that an emoji or a script needs */
export function withoutInvisible(text: string): string {
  return replaceInvisible(text, () => '');
}

function replaceInvisible(text: string, by: (character: string) => string): string {
  if (!ANY_INVISIBLE.test(text)) return text;
  keptOrInvisible ??= new RegExp(`(?<kept>${PICTURES}|${JOINER})|${INVISIBLE}`, 'gu');
  return text.replace(keptOrInvisible, (found, kept: string | undefined) => (kept === undefined ? by(found) : found));
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
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/** @returns the same in one line: a line end within somebody's words would let them forge the next line */
export function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', ' ');
}
