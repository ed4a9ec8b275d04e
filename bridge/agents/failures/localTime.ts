/** Instants that programs state in the time of a zone: `11:11 PM`, `Oct 9 at 5pm (Europe/Berlin)`. */
import { DAY, HOUR, MINUTE } from '../../../src/time.js';

/** A calendar day; the month from 1. */
export interface CalendarDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

/** Offsets in hours of the short names that programs use; no time zone database knows them. */
const SHORT_NAMES: ReadonlyMap<string, number> = new Map([
  ['UTC', 0],
  ['GMT', 0],
  ['Z', 0],
  ['PST', -8],
  ['PDT', -7],
  ['MST', -7],
  ['MDT', -6],
  ['CST', -6],
  ['CDT', -5],
  ['EST', -5],
  ['EDT', -4],
  ['WET', 0],
  ['WEST', 1],
  ['BST', 1],
  ['CET', 1],
  ['CEST', 2],
  ['EET', 2],
  ['EEST', 3],
  ['MSK', 3],
  ['IST', 5.5],
  ['JST', 9],
  ['AEST', 10],
  ['AEDT', 11],
]);
/** Names of a region's time that hold in every season. */
const REGIONS: ReadonlyMap<string, string> = new Map([
  ['PT', 'America/Los_Angeles'],
  ['PACIFIC TIME', 'America/Los_Angeles'],
  ['MT', 'America/Denver'],
  ['MOUNTAIN TIME', 'America/Denver'],
  ['CT', 'America/Chicago'],
  ['CENTRAL TIME', 'America/Chicago'],
  ['ET', 'America/New_York'],
  ['EASTERN TIME', 'America/New_York'],
]);
const OFFSET = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$/;

/** @returns whether the name is a zone that {@link instantIn} understands */
export function isZone(name: string): boolean {
  return offsetAt(name, 0) !== null;
}

/** @param zone as `Europe/Berlin`, `CEST` or `UTC+2` */
export function dayIn(zone: string, instant: number): CalendarDay {
  const there = new Date(instant + (offsetAt(zone, instant) ?? 0));
  return { year: there.getUTCFullYear(), month: there.getUTCMonth() + 1, day: there.getUTCDate() };
}

export function dayAfter({ year, month, day }: CalendarDay, days = 1): CalendarDay {
  const next = new Date(Date.UTC(year, month - 1, day) + days * DAY);
  return { year: next.getUTCFullYear(), month: next.getUTCMonth() + 1, day: next.getUTCDate() };
}

/** @returns epoch milliseconds; where a change of the clocks leaves a time out, the instant an hour later */
export function instantIn(zone: string, { year, month, day }: CalendarDay, { hour, minute }: TimeOfDay): number {
  const asUtc = Date.UTC(year, month - 1, day, hour, minute);
  const guess = asUtc - (offsetAt(zone, asUtc) ?? 0);
  return asUtc - (offsetAt(zone, guess) ?? 0);
}

/** @returns 0 for a Sunday */
export function weekdayOf({ year, month, day }: CalendarDay): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay();
}

/** @returns milliseconds to add to UTC; null if the zone is unknown */
function offsetAt(name: string, instant: number): number | null {
  const zone = REGIONS.get(name.toUpperCase()) ?? name;
  const short = SHORT_NAMES.get(zone.toUpperCase());
  if (short !== undefined) return short * HOUR;
  const [, sign, hours, minutes = '0'] = OFFSET.exec(zone) ?? [];
  if (hours !== undefined) return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE);
  try {
    const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(instant);
    const offset = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
    return offset === 'GMT' ? 0 : offsetAt(offset, instant);
  } catch {
    return null;
  }
}
