/** JSON that an operator wrote. */

/**
 * @returns the value, or what is wrong with the text: `is not JSON (line 3)`. What JSON.parse itself says may quote the
 *   text, and so a secret that somebody wrote into it.
 */
export function parseJsonText(text: string): { readonly value: unknown } | { readonly fault: string } {
  const ink = text.replace(/^\ufeff/, '');
  try {
    return { value: JSON.parse(ink) };
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1];
    const place = position === undefined ? '' : ` (line ${ink.slice(0, Number(position)).split('\n').length})`;
    return { fault: `is not JSON${place}` };
  }
}
