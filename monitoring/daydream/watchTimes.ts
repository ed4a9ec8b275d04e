/**
 * When a watchdog acted for this logs folder. Events cannot show it: a day that nobody watched has none, and neither has a
 * quiet one.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { nullIfAbsent } from '../../src/errno.js';
import { replaceBelowLogs } from '../../src/files/durableFile.js';
import { readPlainFile } from '../../src/files/plainFile.js';
import { isoTime, MINUTE } from '../../src/time.js';

/** A shorter pause is ignored: a restart is no gap in the watch. */
export const SHORTEST_PAUSE_MS = 5 * MINUTE;
/** Earlier times are of days whose reviews were written long ago. */
const MOST_KEPT = 1_000;
/** Ten times the size of that many. */
const LONGEST_BYTES = 1024 * 1024;
const RECORD = z.looseObject({
  watched: z.array(z.object({ from: z.iso.datetime(), until: z.iso.datetime() })),
  known_from: z.iso.datetime().optional(),
});

/** Epoch milliseconds. */
export interface WatchTime {
  readonly from: number;
  readonly until: number;
}

/** What is recorded. */
export interface Watched {
  /** In the order in which they were noted. */
  readonly times: readonly WatchTime[];
  /**
   * Nothing is known about the time before, because the record was damaged. Epoch milliseconds; null if everything is known.
   */
  readonly knownFrom: number | null;
}

/** What a review says about the watch itself. */
export interface WatchFacts {
  /** `unknown`: the record was damaged, or events show that the product was running but the record has nothing for that day. */
  readonly state: 'always' | 'partly' | 'never' | 'unknown';
  /** When it was watched, on this day. */
  readonly times: readonly { readonly from: string; readonly until: string }[];
}

export const UNKNOWN_WATCH: WatchFacts = { state: 'unknown', times: [] };

/** Instants are epoch milliseconds. */
export interface WatchedDay {
  readonly begin: number;
  /** Of the day, or of the part of it that has passed. */
  readonly end: number;
  /** Whether the product wrote any event on that day. */
  readonly hasEvents: boolean;
}

/** The record in the folder of the reviews. One process writes it at a time: the acting watchdog's. */
export class WatchTimes {
  readonly #path: string;

  constructor(reviewsFolder: string) {
    this.#path = join(reviewsFolder, 'watched.json');
  }

  /**
   * @returns no times if the record is missing or damaged
   * @throws the file system's error, and NotPlainError: it is not known what is recorded
   */
  async read(): Promise<Watched> {
    const text = await readPlainFile(this.#path, LONGEST_BYTES).catch(nullIfAbsent);
    return text === null ? { times: [], knownFrom: null } : parse(text);
  }

  /**
   * Notes that a watchdog acts at this instant.
   * @param now epoch milliseconds
   * @throws as {@link read}: a record that cannot be read is not overwritten
   */
  async note(now: number): Promise<void> {
    const { times: before, knownFrom } = await this.read();
    const times = [...before];
    const last = times.at(-1);
    if (last !== undefined && now >= last.from && now - last.until < SHORTEST_PAUSE_MS)
      times.splice(-1, 1, { from: last.from, until: Math.max(last.until, now) });
    else times.push({ from: now, until: now });
    const watched = times.slice(-MOST_KEPT).map(written);
    const known = knownFrom === null ? {} : { known_from: isoTime(Math.min(knownFrom, now)) };
    await replaceBelowLogs(this.#path, `${JSON.stringify({ v: 1, ...known, watched })}\n`);
  }
}

function parse(text: string): Watched {
  try {
    const { watched, known_from: knownFrom } = RECORD.parse(JSON.parse(text));
    const times = watched.map(({ from, until }) => ({ from: Date.parse(from), until: Date.parse(until) }));
    return { times, knownFrom: knownFrom === undefined ? null : Date.parse(knownFrom) };
  } catch {
    return { times: [], knownFrom: Number.POSITIVE_INFINITY };
  }
}

/** @returns those of the times that belong to the day */
export function watchFacts({ times, knownFrom }: Watched, { begin, end, hasEvents }: WatchedDay): WatchFacts {
  if (knownFrom !== null && begin < knownFrom) return UNKNOWN_WATCH;
  const found: WatchTime[] = [];
  for (const { from, until } of times.toSorted((a, b) => a.from - b.from)) {
    if (Math.max(until, from + 1) <= begin || from >= end) continue;
    const last = found.at(-1);
    const cut = { from: Math.max(from, begin), until: Math.min(until, end) };
    if (last !== undefined && cut.from - last.until < SHORTEST_PAUSE_MS)
      found.splice(-1, 1, { from: last.from, until: Math.max(last.until, cut.until) });
    else found.push(cut);
  }
  const [first] = found;
  if (first === undefined) return hasEvents ? UNKNOWN_WATCH : { state: 'never', times: [] };
  const isWhole = first.from - begin < SHORTEST_PAUSE_MS && end - first.until < SHORTEST_PAUSE_MS;
  return { state: isWhole ? 'always' : 'partly', times: found.map(written) };
}

function written({ from, until }: WatchTime): { from: string; until: string } {
  return { from: isoTime(from), until: isoTime(until) };
}
