/** When a watchdog acted for this logs folder: a day without a watchdog has no events, and neither has a quiet one. */
import { join } from 'node:path';
import * as z from 'zod';
import { describeError, nullIfAbsent } from '../../src/errors.js';
import { replaceBelowLogs } from '../../src/files/durableFile.js';
import { readPlainFile } from '../../src/files/plainFile.js';
import { parseJson } from '../../src/json.js';
import type { Logger } from '../../src/log/logger.js';
import { SaidOnce } from '../../src/log/saidOnce.js';
import { RepeatedService } from '../../src/rounds.js';
import { type Clock, isoTime, MINUTE } from '../../src/time.js';

/** A shorter pause is ignored: a restart is no gap in the watch. */
const SHORTEST_PAUSE_MS = 5 * MINUTE;
/** Earlier times are of days whose reviews were written long ago. */
const MOST_KEPT = 1_000;
/** Ten times the size of that many. */
const LONGEST_BYTES = 1024 * 1024;
const RECORD = z.looseObject({
  watched: z.array(z.object({ from: z.iso.datetime(), until: z.iso.datetime() })),
  known_from: z.iso.datetime().optional(),
});

/** Epoch milliseconds. */
interface WatchTime {
  readonly from: number;
  readonly until: number;
}

export interface Watched {
  /** In the order of their notes. */
  readonly times: readonly WatchTime[];
  /**
   * Nothing is known about the time before, because the record was damaged. Epoch milliseconds; null if everything is known.
   */
  readonly knownFrom: number | null;
}

export interface WatchFacts {
  /** `unknown`: the record was damaged, or events show that the product was running but the record has nothing for that day. */
  readonly state: 'always' | 'partly' | 'never' | 'unknown';
  readonly times: readonly { readonly from: string; readonly until: string }[];
}

const UNKNOWN_WATCH: WatchFacts = { state: 'unknown', times: [] };
/** For a record that is damaged, or cannot be read. */
export const NOTHING_KNOWN: Watched = { times: [], knownFrom: Number.POSITIVE_INFINITY };

/** @returns no times if the record is missing or damaged @throws the file system's error, NotPlainError */
export async function readWatched(reviewsFolder: string): Promise<Watched> {
  const text = await readPlainFile(recordPath(reviewsFolder), LONGEST_BYTES).catch(nullIfAbsent);
  return text === null ? { times: [], knownFrom: null } : parse(text);
}

/** Notes once a minute that this process watches, while it has the acting watchdog. One process acts at a time. */
export class WatchRecord extends RepeatedService {
  readonly name = 'record of the watch';
  readonly #reviewsFolder: string;
  readonly #clock: Clock;
  readonly #lease: { readonly isActing: boolean };
  readonly #troubles: SaidOnce;

  /** @param lease whether this process's watchdog is the acting one */
  constructor(reviewsFolder: string, clock: Clock, lease: { readonly isActing: boolean }, logger: Logger) {
    super(clock, MINUTE);
    this.#reviewsFolder = reviewsFolder;
    this.#clock = clock;
    this.#lease = lease;
    this.#troubles = new SaidOnce(logger);
  }

  override async stop(): Promise<void> {
    if (!this.isRunning) return;
    await super.stop();
    await this.runOnce();
  }

  /** Notes the present instant, if this process acts. Never throws: a failure is logged, and retried in a minute. */
  async runOnce(): Promise<void> {
    if (!this.#lease.isActing) return;
    try {
      await this.#note(this.#clock.now());
      this.#troubles.forget('note');
    } catch (error) {
      this.#troubles.error('note', `the reviews will not know that it was watched: ${describeError(error)}`);
    }
  }

  /** @throws as {@link readWatched}: a record that cannot be read is not overwritten */
  async #note(now: number): Promise<void> {
    const { times, knownFrom } = await readWatched(this.#reviewsFolder);
    const watched = withTime(times, { from: now, until: now }).slice(-MOST_KEPT).map(written);
    const known = knownFrom === null ? {} : { known_from: isoTime(Math.min(knownFrom, now)) };
    await replaceBelowLogs(recordPath(this.#reviewsFolder), `${JSON.stringify({ v: 1, ...known, watched })}\n`);
  }
}

function recordPath(reviewsFolder: string): string {
  return join(reviewsFolder, 'watched.json');
}

function parse(text: string): Watched {
  const { data } = RECORD.safeParse(parseJson(text));
  if (data === undefined) return NOTHING_KNOWN;
  const times = data.watched.map(({ from, until }) => ({ from: Date.parse(from), until: Date.parse(until) }));
  return { times, knownFrom: data.known_from === undefined ? null : Date.parse(data.known_from) };
}

/** @param end of the day, or of its past part, epoch milliseconds @param hasEvents of the product, on that day */
export function watchFacts({ times, knownFrom }: Watched, begin: number, end: number, hasEvents: boolean): WatchFacts {
  if (knownFrom !== null && begin < knownFrom) return UNKNOWN_WATCH;
  const found = times
    .toSorted((a, b) => a.from - b.from)
    .filter(({ from, until }) => Math.max(until, from + 1) > begin && from < end)
    .map(({ from, until }) => ({ from: Math.max(from, begin), until: Math.min(until, end) }))
    .reduce<readonly WatchTime[]>(withTime, []);
  const [first] = found;
  if (first === undefined) return hasEvents ? UNKNOWN_WATCH : { state: 'never', times: [] };
  const isWhole = first.from - begin < SHORTEST_PAUSE_MS && end - first.until < SHORTEST_PAUSE_MS;
  return { state: isWhole ? 'always' : 'partly', times: found.map(written) };
}

/** @returns the times with one more, which continues the last one after a short pause */
function withTime(times: readonly WatchTime[], { from, until }: WatchTime): readonly WatchTime[] {
  const last = times.at(-1);
  if (last === undefined || from < last.from || from - last.until >= SHORTEST_PAUSE_MS)
    return [...times, { from, until }];
  return [...times.slice(0, -1), { from: last.from, until: Math.max(last.until, until) }];
}

function written({ from, until }: WatchTime): { from: string; until: string } {
  return { from: isoTime(from), until: isoTime(until) };
}
