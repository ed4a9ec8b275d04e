/**
 * The reference consumer of the critical events. It reads on from its last acknowledgement, rewrites the whole review of every
 * day that it read something about, and acknowledges only when these reviews are on the disk: a crash in between costs a
 * repetition, never an event.
 */
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { counted } from '../../src/counted.js';
import { nullIfAbsent } from '../../src/errno.js';
import { describeError, UnreachableError, UsageError } from '../../src/errors.js';
import { replaceBelowLogs } from '../../src/files/durableFile.js';
import { describeFileTrouble } from '../../src/files/plainFile.js';
import type { Clock } from '../../src/time.js';
import { EventConsumers } from '../events/consumers.js';
import type { Place } from '../events/cursor.js';
import { EventReader } from '../events/reader.js';
import { type Day, type DayFacts, dayFacts } from './dayFacts.js';
import { type DayZone, isDate } from './dayZone.js';
import { ManyDays } from './manyDays.js';
import { reviewText } from './reviewText.js';
import { UNKNOWN_WATCH, type Watched, type WatchedDay, type WatchFacts, WatchTimes, watchFacts } from './watchTimes.js';

/** The name under which it acknowledges. */
export const DAYDREAM = 'daydream';

/** Quiet days of a longer absence are not worth pages. */
const MOST_DAYS_MADE_UP = 31;
/** Each page waits for the disk, which syncs many in about the time of one. */
const PAGES_AT_ONCE = 32;

export interface DaydreamOptions {
  /** Of `critical_events.jsonl`. */
  readonly livePath: string;
  /** Folder of the reviews, for example `logs/daydream`. */
  readonly reviewsFolder: string;
  readonly clock: Clock;
  /** The time zone of the days. */
  readonly zone: DayZone;
  /** Only this day, as `2026-02-05`; null: every day with something new, and yesterday. */
  readonly date: string | null;
}

export interface Daydreamed {
  readonly reviews: readonly { readonly date: string; readonly path: string; readonly facts: DayFacts }[];
  /** The id of the last event that is acknowledged now; null if nothing new is. */
  readonly acknowledged: string | null;
  /** Sentences for the operator. */
  readonly notices: readonly string[];
}

/**
 * @throws UsageError if the date is invalid, or has not begun yet
 * @throws UnreachableError if a review cannot be written: nothing is acknowledged then
 */
export async function daydream({ livePath, reviewsFolder, clock, zone, date }: DaydreamOptions): Promise<Daydreamed> {
  if (date !== null) requireBegunDay(date, clock, zone);
  const reader = new EventReader(livePath);
  const consumers = new EventConsumers(livePath, clock);
  const notices: string[] = [];
  const known = await knownPlace(reader, consumers, notices);
  const { days, place } = await whatIsNew(reader, known, zone, date);
  if (reader.newer > 0)
    notices.push(`${counted(reader.newer, 'event')} of a newer version left out: run that version for their review`);
  // A person who looks for a day's page should find it, even if nothing happened.
  if (date === null && known !== null) for (const day of await missingDays(reviewsFolder, clock, zone)) days.add(day);
  const watched = await whatIsRecorded(reviewsFolder, notices);
  const watchOf = (day: WatchedDay) =>
    watched === null ? UNKNOWN_WATCH : watchFacts(watched, { ...day, end: Math.min(day.end, clock.now()) });
  const found = await foldDays(reader, date === null ? [...days].sort() : [date], zone, watchOf);
  if (date !== null && found.length === 0)
    notices.push(`no page for ${date}: no event from that day or before is kept`);
  const reviews = [];
  for (let from = 0; from < found.length; from += PAGES_AT_ONCE) {
    const written = found.slice(from, from + PAGES_AT_ONCE).map((day) => writeReview(day, reviewsFolder, zone));
    // Wait for all to finish before one of them fails, so that no write goes on unnoticed.
    await Promise.allSettled(written);
    reviews.push(...(await Promise.all(written)));
  }
  const isNew = place !== null && (await consumers.acknowledge(DAYDREAM, place));
  return { reviews, acknowledged: isNew ? place.id : null, notices };
}

/** @returns null if it cannot be known when a watchdog acted: the reviews then claim nothing about it */
function whatIsRecorded(reviewsFolder: string, notices: string[]): Promise<Watched | null> {
  return new WatchTimes(reviewsFolder).read().catch((error: unknown) => {
    notices.push(`the record of when a watchdog acted cannot be read: ${describeFileTrouble(error)}`);
    return null;
  });
}

async function writeReview(day: Day, reviewsFolder: string, zone: DayZone): Promise<Daydreamed['reviews'][number]> {
  const path = join(reviewsFolder, `${day.date}.md`);
  await replaceBelowLogs(path, reviewText(day, zone)).catch((error: unknown) => {
    throw new UnreachableError(
      `the review ${path} could not be written (${describeError(error)}): nothing is acknowledged; check space and permissions there`,
      { cause: error },
    );
  });
  return { date: day.date, path, facts: dayFacts(day) };
}

/** A cursor whose event no longer exists is reported, and everything that is kept is read: reviews may be written twice. */
async function knownPlace(reader: EventReader, consumers: EventConsumers, notices: string[]): Promise<Place | null> {
  const place = await consumers.acknowledged(DAYDREAM).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    notices.push(error.message);
    return null;
  });
  if (place === null) return null;
  const { positions } = await reader.locate([place]);
  if (positions[0] !== null) return place;
  notices.push(
    `the event ${place.id}, up to which daydream had read, is in the critical events no more: it reads everything that is kept`,
  );
  return null;
}

/**
 * @param date stops before the first event of another day, so that nothing is acknowledged without a review
 * @returns the days of the new events, and where they end; null if there are none
 */
async function whatIsNew(
  reader: EventReader,
  known: Place | null,
  zone: DayZone,
  date: string | null,
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

/** @returns yesterday, and the days between the last page and yesterday */
async function missingDays(reviewsFolder: string, clock: Clock, zone: DayZone): Promise<string[]> {
  const files = (await readdir(reviewsFolder).catch(nullIfAbsent)) ?? [];
  const pages = files.map((file) => basename(file, '.md')).filter((day, index) => isDate(day) && files[index] !== day);
  let day = zone.dayBefore(clock.now());
  const newest = pages
    .filter((page) => page < day)
    .sort()
    .at(-1);
  const missing = [day];
  while (newest !== undefined && missing.length < MOST_DAYS_MADE_UP) {
    day = zone.dayBefore(zone.beginOf(day));
    if (day <= newest) break;
    missing.push(day);
  }
  return missing;
}

/** Reads the whole log once, however many the days. */
async function foldDays(
  reader: EventReader,
  days: readonly string[],
  zone: DayZone,
  watchOf: (day: WatchedDay) => WatchFacts,
): Promise<Day[]> {
  if (days.length === 0) return [];
  const many = new ManyDays(days, zone);
  for await (const { event } of reader.read(null)) many.add(event);
  return many.days(watchOf);
}

function requireBegunDay(date: string, clock: Clock, zone: DayZone): void {
  const today = zone.dayOf(clock.now());
  if (!isDate(date)) throw new UsageError(`${JSON.stringify(date)} is not a day; write it as ${today}`);
  if (date > today) throw new UsageError(`${date} has not begun yet (${zone.name}); the last day is ${today}`);
}
