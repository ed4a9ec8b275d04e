/** Words as a person types them into a shell. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** @returns a word that a POSIX shell reads as one, and takes nothing in it for more than text */
export function shellWord(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** @returns the line of a command and its arguments */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}
