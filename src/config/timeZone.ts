import { z } from 'zod';

const WORDS = 'must be the name of a time zone such as "Europe/Berlin" or "UTC"';

/** @returns the schema of a time zone */
export function timeZone(): z.ZodType<string> {
  return z.string(WORDS).refine((name) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
    } catch {
      return false;
    }
  }, WORDS);
}
