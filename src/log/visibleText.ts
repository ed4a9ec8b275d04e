/**
 * Prepares the words of people, tools and agents for display: they are read, never obeyed, and must not contain anything
 * invisible. A language model that gets the text can still read invisible characters: Unicode tags spell whole instructions.
 */

/** Control characters, including escape sequences, and characters that change the reading direction; not tab and line end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Tags, zero-width and filler characters, variation selectors, and characters that change the reading direction. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]+/gu;
/** Pictures are joined and coloured by such characters. */
const [JOINER, NON_JOINER, COLOURED] = ['\u200d', '\u200c', '\ufe0f'];
const AFTER_PICTURE = /\p{Extended_Pictographic}\p{Emoji_Modifier}?$/u;
const AFTER_COLOURED_PICTURE = /\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?$/u;
const BEFORE_PICTURE = /^\p{Extended_Pictographic}/u;
const AFTER_KEY = /[0-9#*]$/;
/** Scripts whose words are written with joiners. */
const JOINED = 'Arabic Syriac Devanagari Bengali Gujarati Kannada Malayalam Sinhala Tamil Telugu'
  .split(' ')
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');
const LETTER_BEFORE = new RegExp(`[${JOINED}]$`, 'u');
const LETTER_BEHIND = new RegExp(`^[${JOINED}]`, 'u');
/** A picture with its colour, in UTF-16 units. */
const LONGEST_PICTURE = 5;

/** @returns the text without invisible characters, except those that an emoji or a script needs */
export function withoutInvisible(text: string): string {
  return replaceInvisible(text, () => '');
}

function replaceInvisible(text: string, by: (character: string) => string): string {
  return text.replace(INVISIBLE, (run, at: number) => {
    let result = '';
    let begin = at;
    for (const character of run) {
      const end = begin + character.length;
      result += isNeeded(text, begin, end) ? character : by(character);
      begin = end;
    }
    return result;
  });
}

/** Whether the character from `begin` to `end` joins or colours what stands next to it. */
function isNeeded(text: string, begin: number, end: number): boolean {
  const character = text.slice(begin, end);
  if (character !== JOINER && character !== NON_JOINER && character !== COLOURED) return false;
  const before = text.slice(Math.max(0, begin - LONGEST_PICTURE), begin);
  const behind = text.slice(end, end + 2);
  if (character === COLOURED) {
    return AFTER_PICTURE.test(before) || (behind.startsWith('\u20e3') && AFTER_KEY.test(before));
  }
  if (character === JOINER && AFTER_COLOURED_PICTURE.test(before) && BEFORE_PICTURE.test(behind)) return true;
  return LETTER_BEFORE.test(before) && LETTER_BEHIND.test(behind);
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
