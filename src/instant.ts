/** An instant as a person types it. */
import { UsageError } from './errors.js';
import { DAY, HOUR, MINUTE, SECOND } from './time.js';

const AGE_UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** JavaScript takes anything shorter for a year. */
const DATE = /^\d{4}-\d{2}-\d{2}/;

/** @param text ISO 8601, or an age such as `12h` @returns epoch milliseconds @throws UsageError, with the `option` */
export function parseInstant(option: string, text: string, now: number): number {
  const age = /^-?(\d+)([smhd])$/.exec(text);
  if (age !== null) return now - Number(age[1]) * (AGE_UNITS[age[2] ?? ''] ?? 0);
  const instant = DATE.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(instant)) {
    throw new UsageError(
      `${option} ${JSON.stringify(text)} is neither an instant (2026-02-05T10:00:00Z) nor an age (30m, 12h, 7d)`,
    );
  }
  return instant;
}
