/** Counts in sentences. Nouns are passed in the singular, and must form their plural with an s. */

/** @returns `1 fault`, `12 faults` */
export function counted(value: number, noun: string): string {
  return `${value} ${plural(value, noun)}`;
}

/** @returns the noun alone, for a number that is written differently */
function plural(value: number, noun: string): string {
  return value === 1 ? noun : `${noun}s`;
}

/** @returns `a.ts and 2 other files`; nothing for none */
export function namedFiles([first = '', ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first} and ${counted(more.length, 'other file')}`;
}
