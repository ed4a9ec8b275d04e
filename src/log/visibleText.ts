/**
 * Words of people, tools and agents where people read them: to be read, never obeyed, and nothing in them that is not seen.
 * What is not seen can still be read by a language model that is handed the text: Unicode tags spell whole instructions.
 */

/** Control characters, escape sequences among them, and what turns the reading direction; not tab and line end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Signs of several characters that need an invisible one: joined and coloured pictures, and keycaps. */
const PICTURE = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?`;
const PICTURES = String.raw`${PICTURE}(?:\u200D${PICTURE})*|[0-9#*]\uFE0F\u20E3`;
/** Scripts whose words are written with joiners. */
const JOINED = [
  'Arabic',
  'Syriac',
  'Devanagari',
  'Bengali',
  'Gujarati',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Tamil',
  'Telugu',
]
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');
const JOINER = `(?<=[${JOINED}])[\\u200C\\u200D](?=[${JOINED}])`;
/** Tags, zero-width and filling characters, selectors of variants, and what turns the reading direction. */
const INVISIBLE = String.raw`[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]`;
/** Most texts have nothing of it. */
const ANY_INVISIBLE = new RegExp(INVISIBLE, 'u');
const KEPT_OR_INVISIBLE = new RegExp(`(?<kept>${PICTURES}|${JOINER})|${INVISIBLE}`, 'gu');

/** @returns the text without characters that nobody sees; what a picture or a script needs of them stays */
export function withoutInvisible(text: string): string {
  return replaceInvisible(text, () => '');
}

function replaceInvisible(text: string, by: (character: string) => string): string {
  if (!ANY_INVISIBLE.test(text)) return text;
  return text.replace(KEPT_OR_INVISIBLE, (found, kept: string | undefined) => (kept === undefined ? by(found) : found));
}

/** @returns the text with everything that a terminal would obey written out as `\u001b`; JSON stays the same JSON */
export function visible(text: string): string {
  return replaceInvisible(text, escaped).replace(OBEYED, escaped);
}

/** As in JSON: a character beyond 16 bits is two. */
function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/** @returns the same as one line: a line end within words would let them forge the next line */
export function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', ' ');
}
