/** Words of people and agents on a terminal: to be read, never obeyed. */

/** Control characters, escape sequences among them, and what turns the reading direction; not tab and line end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** @returns the text with everything that a terminal would obey written out as `\u001b`; JSON stays the same JSON */
export function visible(text: string): string {
  return text.replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** @returns the same as one line: a line end within words would let them forge the next line */
export function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', ' ');
}
