/** Numbers that an operator writes, in the project file or in the environment: what is allowed, with its unit. */
import { z } from 'zod';

/**
 * @param unit what is counted, in the plural: `milliseconds`
 * @param least the smallest that is allowed
 */
export function wholeNumber(unit: string, least = 1): z.ZodInt {
  const words = wordsFor(unit, least);
  return z.int(words).min(least, words);
}

/** As {@link wholeNumber}, written as a text of digits: `0x10`, `1e3` and `5.0` are nobody's intention. */
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
