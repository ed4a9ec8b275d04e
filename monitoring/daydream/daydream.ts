/**
 * The reference consumer of the critical events. It reads on from its last acknowledgement, rewrites the whole review of every
 * day that it read something about, and acknowledges only when these reviews are on the disk: a crash in between costs a
 * repetition, never an event.
 */
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { counted } from '../../src/counted.js';
import { describeError, nullIfAbsent, UnreachableError, UsageError } from '../../src/errors.js';
import { replaceBelowLogs } from '../../src/files/durableFile.js';
import { describeFileTrouble } from '../../src/files/plainFile.js';
import type { Clock } from '../../src/time.js';
import { EventConsumers } from '../events/consumers.js';
import type { Place } from '../events/cursor.js';
import { EventReader } from '../events/reader.js';
import { type Day, type DayFacts, factsForPrograms } from './dayFacts.js';
import { type DayZone, isDate } from './dayZone.js';
import { ManyDays } from './manyDays.js';
import { pageOf } from './page.js';
import { NOTHING_KNOWN, readWatched, type Watched, watchFacts } from './watchTimes.js';

/** The name under which it acknowledges. */
const DAYDREAM = 'daydream';
/** Quiet days of a longer absence are not worth pages. */
const MOST_DAYS_MADE_UP = 31;

interface Review {
  readonly date: string;
  readonly path: string;
  readonly facts: DayFacts;
}

export interface Daydreamed {
  readonly reviews: readonly Review[];
  /** The id of the last event that is acknowledged now; null if nothing new is. */
  readonly acknowledged: string | null;
  /** Sentences for the operator. */
  readonly notices: readonly string[];
}

export class DailyReview {
  readonly #livePath: string;
  readonly folder: string;
  readonly zone: DayZone;
  readonly clock: Clock;

  /** @param livePath of `critical_events.jsonl` @param folder of the pages */
  constructor(livePath: string, folder: string, zone: DayZone, clock: Clock) {
    this.#livePath = livePath;
    this.folder = folder;
    this.zone = zone;
    this.clock = clock;
  }

  /** @param date null for every day that needs a page @throws UsageError; UnreachableError: nothing is acknowledged then */
  async write(date: string | null = null): Promise<Daydreamed> {
    if (date !== null) requireBegunDay(date, this.clock.now(), this.zone);
    const reader = new EventReader(this.#livePath);
    const consumers = new EventConsumers(this.#livePath, this.clock);
    const notices: string[] = [];
    const known = await knownPlace(reader, consumers, notices);
    const { days, place } = await daysWithNews(reader, known, date, this.zone);
    if (reader.newer > 0)
      notices.push(`${counted(reader.newer, 'event')} of a newer version left out: run that version for their review`);
    // A person who looks for a day's page should find it, even if nothing happened.
    if (date === null && known !== null)
      for (const day of await daysWithoutPage(this.folder, this.clock.now(), this.zone)) days.add(day);
    const watched = await readWatched(this.folder).catch((error: unknown) => {
      notices.push(`the record of when a watchdog acted cannot be read: ${describeFileTrouble(error)}`);
      return NOTHING_KNOWN;
    });
    // The whole log is read once, however many the days.
    const many = new ManyDays(date === null ? [...days].sort() : [date], this.zone);
    for await (const { event } of reader.read(null)) many.add(event);
    const reviews: Review[] = [];
    for (const day of many.days()) reviews.push(await this.#writePage(day, watched));
    if (date !== null && reviews.length === 0)
      notices.push(`no page for ${date}: no event from that day or before is kept`);
    const isNew = place !== null && (await consumers.acknowledge(DAYDREAM, place));
    return { reviews, acknowledged: isNew ? place.id : null, notices };
  }

  async #writePage(day: Day, watched: Watched): Promise<Review> {
    const { date, events } = day;
    const end = Math.min(this.zone.endOf(date), this.clock.now());
    const watch = watchFacts(watched, this.zone.beginOf(date), end, events > 0);
    const path = join(this.folder, `${date}.md`);
    await replaceBelowLogs(path, pageOf(day, watch, this.zone)).catch((error: unknown) => {
      throw new UnreachableError(
        `the review ${path} could not be written (${describeError(error)}): nothing is acknowledged; check space and permissions there`,
        { cause: error },
      );
    });
    return { date, path, facts: factsForPrograms(day, watch) };
  }
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

/** @throws UsageError if the date is invalid, or has not begun at `now` (epoch milliseconds) */
function requireBegunDay(date: string, now: number, zone: DayZone): void {
  const today = zone.dayOf(now);
  if (!isDate(date)) throw new UsageError(`${JSON.stringify(date)} is not a day; write it as ${today}`);
  if (date > today) throw new UsageError(`${date} has not begun yet (${zone.name}); the last day is ${today}`);
}

/**
 * @param known the last event that has a page; null if none has
 * @param date stops before the first event of another day, so that nothing is acknowledged without a page; null for all days
 * @returns the days of the new events, and the last of these events; null if there are none
 */
async function daysWithNews(reader: EventReader, known: Place | null, date: string | null, zone: DayZone) {
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
async function daysWithoutPage(folder: string, now: number, zone: DayZone): Promise<string[]> {
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
