/** Numbers that an operator writes, in the project file or in the environment: their limits, and their unit. */
import * as z from 'zod';

/** @param unit the counted things, in the plural: `milliseconds` */
export function wholeNumber(unit: string, least = 1): z.ZodInt {
  const words = wordsFor(unit, least);
  return z.int(words).min(least, words);
}

export const milliseconds = wholeNumber('milliseconds');

/** Like {@link wholeNumber}, but for a text of digits: no operator means `0x10`, `1e3` or `5.0`. */
export function wholeNumberText(unit: string, least = 1): z.ZodType<number> {
  const words = wordsFor(unit, least);
  return z
    .string()
    .regex(/^\d{1,16}$/, { error: words, abort: true })
    .transform(Number)
    .pipe(wholeNumber(unit, least));
}

function wordsFor(unit: string, least: number): string {
  return `must be a whole number of ${unit}, at least ${least}`;
}
