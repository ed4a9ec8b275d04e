/** Text cut to a length, which counts UTF-16 units as JavaScript does. */

const CUT = '…';

/** @returns at most `longest` UTF-16 units of `text`, never half of a surrogate pair */
export function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const last = text.charCodeAt(longest - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? longest - 1 : longest);
}

/** @returns `text`, where it is longer cut to at most `longest` UTF-16 units, `…` at its end included */
export function shorten(text: string, longest: number): string {
  return text.length <= longest ? text : cutText(text, longest - CUT.length) + CUT;
}
