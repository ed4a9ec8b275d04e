/** Counts in sentences. Nouns are passed in the singular, and must form their plural with an s. */

/** @returns `1 fault`, `12 faults` */
export function counted(value: number, noun: string): string {
  return `${value} ${plural(value, noun)}`;
}

/** @returns the noun alone, for a number that is written differently */
function plural(value: number, noun: string): string {
  return value === 1 ? noun : `${noun}s`;
}
