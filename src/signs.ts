/** Signs that people take for one character, but may be several code points: a flag, a family, a letter with its accents. */

/** Made late: that takes some 10 ms, and few texts need it. */
let segmenter: Intl.Segmenter | undefined;

/** @returns the signs of the text; finding them is slow */
export function signsIn(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}
