/** An operator's settings about time: a schedule, and the time zone of one. */
import { Cron } from 'croner';
import * as z from 'zod';

export function cronPattern(whose: 'in UTC' | 'in its time zone'): z.ZodType<string> {
  // A single instant, or a day that no month has, is not a schedule.
  return textThat(
    `must be a cron pattern ${whose} such as "*/5 * * * *"`,
    (pattern) => new Cron(pattern, { paused: true, timezone: 'UTC' }).nextRuns(2).length === 2,
  );
}

export const timeZone: z.ZodType<string> = textThat(
  'must be the name of a time zone such as "Europe/Berlin" or "UTC"',
  (name) => new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '',
);

/** @param isValid may throw for a text that is not */
function textThat(words: string, isValid: (text: string) => boolean): z.ZodType<string> {
  return z.string(words).refine((text) => {
    try {
      return isValid(text);
    } catch {
      return false;
    }
  }, words);
}
