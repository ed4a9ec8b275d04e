/**
 * @param kind matches one character
 * @returns the text without the characters of the kind at its end. A pattern such as `/x+$/` does the same, in time that grows with the
 *   square of the length if more text follows many of them
 */
export function withoutEnd(text: string, kind: RegExp): string {
  let end = text.length;
  while (end > 0 && kind.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
