/** Counts in sentences. Nouns are handed in in the singular, and are of those whose plural is made with an s. */

/** @returns `1 fault`, `12 faults` */
export function counted(value: number, noun: string): string {
  return `${value} ${plural(value, noun)}`;
}

/** @returns the noun alone, for a number that is written otherwise */
export function plural(value: number, noun: string): string {
  return value === 1 ? noun : `${noun}s`;
}
