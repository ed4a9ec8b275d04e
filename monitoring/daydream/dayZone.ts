import { DAY, HOUR, isoTime } from '../../src/time.js';

/** No zone is further from UTC than 14 hours. */
const FURTHEST_MS = 15 * HOUR;

/** Days and clock times in the readers' time zone. */
export class DayZone {
  readonly name: string;
  readonly #days: Intl.DateTimeFormat;
  readonly #times: Intl.DateTimeFormat;

  /** @param name of a time zone, as `Europe/Berlin` or `UTC` @throws RangeError if there is no such zone */
  constructor(name: string) {
    this.name = name;
    // Swedish dates are ISO dates.
    this.#days = new Intl.DateTimeFormat('sv-SE', { timeZone: name, dateStyle: 'short' });
    this.#times = new Intl.DateTimeFormat('en-GB', { timeZone: name, hour: '2-digit', minute: '2-digit' });
  }

  /** @param at epoch milliseconds @returns the day, as `2026-02-05` */
  dayOf(at: number): string {
    return this.#days.format(at);
  }

  /** @param at epoch milliseconds @returns the time of day, as `09:15` */
  timeOf(at: number): string {
    return this.#times.format(at);
  }

  /** @param date as `2026-02-05` @returns its first instant, in epoch milliseconds; days have 23 to 25 hours */
  beginOf(date: string): number {
    const midnight = midnightInUtc(date);
    let [before, from] = [midnight - FURTHEST_MS, midnight + FURTHEST_MS];
    while (from - before > 1) {
      const between = Math.floor((before + from) / 2);
      if (this.dayOf(between) < date) before = between;
      else from = between;
    }
    return from;
  }

  endOf(date: string): number {
    return this.beginOf(isoTime(midnightInUtc(date) + DAY).slice(0, 10));
  }

  dayBefore(date: string): string {
    return this.dayOf(this.beginOf(date) - 1);
  }
}

/** @returns whether the text is a day of the calendar, written as `2026-02-05` */
export function isDate(text: string): boolean {
  const midnight = midnightInUtc(text);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(midnight) && isoTime(midnight).startsWith(text);
}

function midnightInUtc(date: string): number {
  return Date.parse(`${date}T00:00:00.000Z`);
}
