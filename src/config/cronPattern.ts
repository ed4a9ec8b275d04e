import { Cron } from 'croner';
import { z } from 'zod';

const WORDS = 'must be a cron pattern in UTC such as "*/5 * * * *"';

/** @returns what a schedule must look like */
export function cronPattern(): z.ZodType<string> {
  return z.string(WORDS).refine((pattern) => {
    try {
      // One instant, or a day that no month has, is no schedule.
      return new Cron(pattern, { paused: true, timezone: 'UTC' }).nextRuns(2).length === 2;
    } catch {
      return false;
    }
  }, WORDS);
}
