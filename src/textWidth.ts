/** How many columns a text takes in a monospaced font. */

/** East Asian letters and most emoji take two columns (https://www.unicode.org/reports/tr11/). */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]/u;

const MAY_BE_COMPOSED = /[\u200D\uFE0F\p{Regional_Indicator}\p{Emoji_Modifier}]/u;
/** Shown as an emoji, including a letter that becomes one by the selector after it: ⚠️. */
const PICTURE = /^(?:\p{Emoji_Presentation}|\p{Emoji}\uFE0F)/u;
/** Most texts consist of these, and need no check of each letter. */
const PLAIN = /^[ -~]*$/;

export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  if (!MAY_BE_COMPOSED.test(text)) return widthOfLetters(text);
  let width = 0;
  for (const { segment } of signsIn(text)) width += PICTURE.test(segment) ? 2 : widthOfLetters(segment);
  return width;
}

function widthOfLetters(text: string): number {
  let width = 0;
  for (const letter of text) width += widthOfLetter(letter);
  return width;
}

/** @param letter one code point */
export function widthOfLetter(letter: string): number {
  return WIDE.test(letter) ? 2 : NO_WIDTH.test(letter) ? 0 : 1;
}

/** Made late: that takes some 10 ms, and few texts need it. */
let segmenter: Intl.Segmenter | undefined;

export function signsIn(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}
