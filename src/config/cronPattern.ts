import { Cron } from 'croner';
import { z } from 'zod';

/** @returns the schema of a schedule */
export function cronPattern(whose: 'in UTC' | 'in its time zone' = 'in UTC'): z.ZodType<string> {
  const words = `must be a cron pattern ${whose} such as "*/5 * * * *"`;
  return z.string(words).refine((pattern) => {
    try {
      // A single instant, or a day that no month has, is not a schedule.
      return new Cron(pattern, { paused: true, timezone: 'UTC' }).nextRuns(2).length === 2;
    } catch {
      return false;
    }
  }, words);
}
