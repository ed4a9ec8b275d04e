/**
 * Text as it might have been typed: people, word processors and web pages put typographic quotes around a secret, a full stop of
 * another script behind it, and spaces that do not break in front of it. Patterns know only those of a keyboard.
 */

const NBSP_TO_HAIR = '\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
/** Quotes, brackets, and what ends a clause or a sentence. An ellipsis and bullets are left out: they mean a hidden value. */
const BESIDE_WORDS =
  '\\u00a1\\u00ab\\u00bb\\u00bf\\u2014\\u2015\\u2018-\\u201f\\u2039\\u203a\\u3001-\\u3003\\u3008-\\u3011\\u3014-\\u301f\\uff61-\\uff64';
const HYPHENS = '\\u2010-\\u2013\\u2212';
/** The whole keyboard, as wide as Chinese characters. */
const WIDE = '\\uff01-\\uff5e';
const FROM_WIDE = 0xff01 - 0x21;
const OTHERS = new RegExp(`[${NBSP_TO_HAIR}${BESIDE_WORDS}${HYPHENS}${WIDE}]`, 'g');
/** Looked for first, at a fraction of the cost. */
const BEYOND_ASCII = /[^\0-\x7f]/;
const HYPHEN = new RegExp(`[${HYPHENS}]`);

/** @returns the text with such characters replaced by those of a keyboard, one for one; the same text if there are none */
export function asciiView(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text;
  return text.replace(OTHERS, (character) => {
    const code = character.charCodeAt(0);
    if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - FROM_WIDE);
    return HYPHEN.test(character) ? '-' : ' ';
  });
}
