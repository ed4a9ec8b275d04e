/** Which days get a page. */
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { nullIfAbsent } from '../../src/errno.js';
import { UsageError } from '../../src/errors.js';
import type { Place } from '../events/cursor.js';
import type { EventReader } from '../events/reader.js';
import { type DayZone, isDate } from './dayZone.js';

/** Quiet days of a longer absence are not worth pages. */
const MOST_DAYS_MADE_UP = 31;

/** @throws UsageError if the date is invalid, or has not begun at `now` (epoch milliseconds) */
export function requireBegunDay(date: string, now: number, zone: DayZone): void {
  const today = zone.dayOf(now);
  if (!isDate(date)) throw new UsageError(`${JSON.stringify(date)} is not a day; write it as ${today}`);
  if (date > today) throw new UsageError(`${date} has not begun yet (${zone.name}); the last day is ${today}`);
}

/**
 * @param known the last event that has a page; null: none has
 * @param date stops before the first event of another day, so that nothing is acknowledged without a page; null: all days
 * @returns the days of the new events, and the last of these events; null if there are none
 */
export async function daysWithNews(
  reader: EventReader,
  known: Place | null,
  date: string | null,
  zone: DayZone,
): Promise<{ days: Set<string>; place: Place | null }> {
  const days = new Set<string>();
  let place: Place | null = null;
  for await (const read of reader.read(known)) {
    const day = zone.dayOf(Date.parse(read.event.timestamp));
    if (date !== null && day !== date) break;
    // A timestamp beyond all calendars has no page.
    if (isDate(day)) days.add(day);
    place = read.place;
  }
  return { days, place };
}

/** @returns yesterday, and the days between the last page and yesterday; `now` in epoch milliseconds */
export async function daysWithoutPage(folder: string, now: number, zone: DayZone): Promise<string[]> {
  const yesterday = zone.dayBefore(zone.dayOf(now));
  const files = (await readdir(folder).catch(nullIfAbsent)) ?? [];
  const pages = files.filter((file) => file.endsWith('.md')).map((file) => basename(file, '.md'));
  const older = pages.filter((page) => isDate(page) && page < yesterday);
  const newest = older.sort().at(-1) ?? yesterday;
  const missing = [yesterday];
  let day = zone.dayBefore(yesterday);
  for (; day > newest && missing.length < MOST_DAYS_MADE_UP; day = zone.dayBefore(day)) missing.push(day);
  return missing;
}
