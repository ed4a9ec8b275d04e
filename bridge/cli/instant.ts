import { UsageError } from '../../src/errors.js';
import { DAY, HOUR, MINUTE, SECOND, systemClock } from '../../src/time.js';

const AGE_UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** JavaScript takes anything shorter for a year. */
const DATE = /^\d{4}-\d{2}-\d{2}/;

/**
 * @param option for the error message, as `--since`
 * @param text an instant in ISO 8601, or an age such as `12h` (`-12h` is the same: an age is in the past)
 * @returns epoch milliseconds
 * @throws UsageError if it is neither
 */
export function parseInstant(option: string, text: string): number {
  const age = /^-?(\d+)([smhd])$/.exec(text);
  if (age !== null) return systemClock.now() - Number(age[1]) * (AGE_UNITS[age[2] ?? ''] ?? 0);
  const instant = DATE.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(instant)) {
    throw new UsageError(
      `${option} ${JSON.stringify(text)} is neither an instant (2026-02-05T10:00:00Z) nor an age (30m, 12h, 7d)`,
    );
  }
  return instant;
}
