/** Words as a person types them into a shell. */
import { oneLine } from './visibleText.js';

const PLAIN = /^[\w@%+=:,./-]+$/;

/** @returns a word that a POSIX shell reads as one, and takes nothing in it for more than text */
export function shellWord(word: string): string {
  // A character that a terminal would obey is never printed: `printf` makes it.
  if (oneLine(word) !== word) return `"$(printf '${[...Buffer.from(word)].map(printed).join('')}')"`;
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** @returns the line of a command and its arguments */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

function printed(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[\w./]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
}
