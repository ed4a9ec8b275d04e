/** Time is an argument. Only {@link systemClock} reads the wall clock, so a test moves time instead of waiting for it. */
import { counted } from './counted.js';

/** Milliseconds. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A pending timer; `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** UTC epoch milliseconds. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes backwards. */
  monotonic(): number;
  /** Calls `task` once after `delayMs`; the timer does not keep the process alive. */
  after(delayMs: number, task: () => void): Timer;
  /** Resolves after `delayMs`, or at once when `signal` aborts: the caller checks the signal. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay that a Node timer supports; longer ones fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // `performance` takes a hook longer to load than most of its work.
  monotonic: () => process.uptime() * SECOND,
  after(delayMs, task) {
    const timer = setTimeout(task, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  sleep(delayMs, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS));
      signal?.addEventListener('abort', done, { once: true });
    });
  },
};

/** The last instant that has a date. */
const LAST_DATE_MS = 8.64e15;

/** An instant that is further ahead than its writer can have set it is from before a clock was set back: it does not count. */
export function isAhead(instant: number, lengthMs: number, now: number): boolean {
  return instant > now && instant - now <= lengthMs;
}

/** Lets all pending tasks run once, in the middle of long work. */
export function giveWay(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Late work continues, and its failure is ignored. @param late returned after `limitMs` @throws what `work` throws in time */
export async function atMost<T, Late>(clock: Clock, limitMs: number, work: Promise<T>, late: Late): Promise<T | Late> {
  const over = new AbortController();
  try {
    // After a suspension, a process's timers fire before it handles arrived data.
    const expired = clock.sleep(limitMs, over.signal).then(giveWay);
    return await Promise.race([work, expired.then(() => late)]);
  } finally {
    // Without a reason, each abort would create an error with its stack.
    over.abort('over');
  }
}

/** As {@link isoTime}; null for an instant that is not known. */
export function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}

/** @param epochMs values beyond all dates become the last or the first one @returns such as `2026-02-05T10:00:00.000Z` */
export function isoTime(epochMs: number): string {
  const minute = Math.floor(epochMs / MINUTE);
  if (!Number.isInteger(epochMs) || minute !== knownMinute) return isoTimeOfDate(epochMs);
  const restMs = epochMs - minute * MINUTE;
  return knownMinuteText + SECONDS[Math.floor(restMs / SECOND)] + MILLISECONDS[restMs % SECOND];
}

/** Instants that are written one after the other usually share their minute, and a `Date` takes ten times as long as the rest. */
let knownMinute = Number.NaN;
let knownMinuteText = '';
const SECONDS = Array.from({ length: 60 }, (_, second) => `${second}.`.padStart(3, '0'));
const MILLISECONDS = Array.from({ length: SECOND }, (_, ms) => `${ms}Z`.padStart(4, '0'));

function isoTimeOfDate(epochMs: number): string {
  const text = new Date(Math.max(-LAST_DATE_MS, Math.min(LAST_DATE_MS, epochMs))).toISOString();
  if (Number.isInteger(epochMs) && Math.abs(epochMs) < LAST_DATE_MS) {
    knownMinute = Math.floor(epochMs / MINUTE);
    knownMinuteText = text.slice(0, -'00.000Z'.length);
  }
  return text;
}

/**
 * An instant for a person; texts for models and programs have {@link isoTime}.
 * @param aheadMin minutes by which the reader's clock is ahead of UTC; by the zone of this process, if missing
 * @returns such as `2026-02-05 11:00:00 +01:00`, or `2026-02-05 10:00:00 UTC`
 */
export function localTime(epochMs: number, aheadMin = aheadOf(epochMs)): string {
  const words = isoTime(Math.trunc(epochMs) + aheadMin * MINUTE).slice(0, -'.000Z'.length);
  return `${words.replace('T', ' ')} ${zoneWords(aheadMin)}`;
}

/** @returns the time of day of {@link localTime}, such as `11:00:00 +01:00` */
export function localClock(epochMs: number): string {
  return localTime(epochMs).slice('2026-01-01 '.length);
}

/** @returns the day of {@link localTime}, such as `2026-02-05` */
export function localDay(epochMs: number, aheadMin = aheadOf(epochMs)): string {
  return localTime(epochMs, aheadMin).slice(0, '2026-01-01'.length);
}

function aheadOf(epochMs: number): number {
  return -new Date(epochMs).getTimezoneOffset() || 0;
}

function zoneWords(aheadMin: number): string {
  if (aheadMin === 0) return 'UTC';
  const minutes = Math.abs(aheadMin);
  const parts = [Math.floor(minutes / 60), Math.round(minutes % 60)].map((part) => String(part).padStart(2, '0'));
  return `${aheadMin < 0 ? '-' : '+'}${parts.join(':')}`;
}

/** @returns a duration in everyday words, rounded: `20 seconds`, `15 minutes`, `2.5 hours` */
export function spokenDuration(durationMs: number): string {
  const seconds = Math.max(1, Math.round(durationMs / SECOND));
  if (seconds < 100) return counted(seconds, 'second');
  const minutes = Math.round(durationMs / MINUTE);
  if (minutes < 100) return counted(minutes, 'minute');
  const hours = Math.round((2 * durationMs) / HOUR) / 2;
  return hours < 48 ? counted(hours, 'hour') : counted(Math.round(durationMs / DAY), 'day');
}

/** @returns the time of day with its zone, as `10:02:00 UTC` */
export function clockTime(epochMs: number): string {
  return `${isoTime(epochMs).slice(11, 19)} UTC`;
}

/** @returns the duration in short form: `38 ms`, `42 s`, `15 min`, `2 h 5 min` */
export function describeDuration(durationMs: number): string {
  if (durationMs < SECOND) return `${Math.round(durationMs)} ms`;
  if (durationMs < 2 * MINUTE) return `${Math.round(durationMs / SECOND)} s`;
  const minutes = Math.floor(durationMs / MINUTE);
  if (minutes < 120) return `${minutes} min`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long to wait before retrying: twice as long after every failure, up to a limit. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** @param failures consecutive so far, from 1 */
export function pauseAfter(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}
