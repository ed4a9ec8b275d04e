/**
 * Text as it might have been typed: people, word processors and web pages put typographic quotes around a secret, a full stop of
 * another script behind it, and spaces that do not break in front of it. Patterns know only those of a keyboard.
 */

type Range = readonly [first: number, last: number];

const one = (code: number): Range => [code, code];
/** From the space that does not break to the hair space. */
const SPACES: readonly Range[] = [
  one(0xa0),
  one(0x1680),
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  one(0x202f),
  one(0x205f),
  one(0x3000),
];
/** Quotes, brackets, and what ends a clause or a sentence. An ellipsis and bullets are left out: they mean a hidden value. */
const BESIDE_WORDS: readonly Range[] = [
  one(0xa1),
  one(0xab),
  one(0xbb),
  one(0xbf),
  [0x2014, 0x2015],
  [0x2018, 0x201f],
  [0x2039, 0x203a],
  [0x3001, 0x3003],
  [0x3008, 0x3011],
  [0x3014, 0x301f],
  [0xff61, 0xff64],
];
const HYPHENS: readonly Range[] = [[0x2010, 0x2013], one(0x2212)];
/** The whole keyboard, as wide as Chinese characters. */
const WIDE: Range = [0xff01, 0xff5e];
const FROM_WIDE = 0xff01 - 0x21;
/** The characters that are seen as others. */
export const OTHERS: readonly Range[] = [...SPACES, ...BESIDE_WORDS, ...HYPHENS, WIDE];
const ANY_OTHER = new RegExp(`[${OTHERS.map(([first, last]) => `${escaped(first)}-${escaped(last)}`).join('')}]`, 'g');

function escaped(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

/** @returns the text with such characters replaced by those of a keyboard, one for one */
export function asciiView(text: string): string {
  return text.replace(ANY_OTHER, (character) => {
    const code = character.charCodeAt(0);
    const isIn = ([first, last]: Range) => code >= first && code <= last;
    if (isIn(WIDE)) return String.fromCharCode(code - FROM_WIDE);
    return HYPHENS.some(isIn) ? '-' : ' ';
  });
}
