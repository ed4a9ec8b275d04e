import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Timer } from '../../src/time.js';

interface Pending {
  /** On the monotonic scale. */
  readonly dueAt: number;
  readonly order: number;
  readonly task: () => void;
}

/** 2026-02-05T10:00:00.000Z */
export const TEST_START = Date.UTC(2026, 1, 5, 10);

/** What a timer resolves goes on in this turn, and what a limit has cut short in the next: see `atMost`. */
async function twoTurns(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/**
 * A clock that stands still until the test moves it. Timers run on the monotonic scale, as Node's do; the wall clock may
 * be moved alone.
 */
export class ManualClock implements Clock {
  #wall: number;
  #monotonic = 0;
  #order = 0;
  readonly #pending = new Set<Pending>();
  readonly #watchers = new Set<() => void>();
  readonly #atRest: () => Promise<unknown>;

  /**
   * @param startMs the wall clock's first reading, UTC epoch milliseconds
   * @param atRest resolves when what a timer has begun is done, see `untilAtRest`; else input and output is not waited for
   */
  constructor(startMs: number = TEST_START, atRest: () => Promise<unknown> = twoTurns) {
    this.#wall = startMs;
    this.#atRest = atRest;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(delayMs: number, task: () => void): Timer {
    this.#order += 1;
    const pending = { dueAt: this.#monotonic + Math.max(delayMs, 0), order: this.#order, task };
    this.#pending.add(pending);
    for (const look of this.#watchers) look();
    return { cancel: () => void this.#pending.delete(pending) };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        timer.cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = this.after(delayMs, done);
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  /** Timers and sleepers that wait now. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** Milliseconds until the next timer; null where none waits. */
  get nextInMs(): number | null {
    const next = this.#earliest(Number.POSITIVE_INFINITY);
    return next === null ? null : next.dueAt - this.#monotonic;
  }

  /** Resolves when at least `count` timers or sleepers wait: the named event "it has gone to sleep". */
  untilWaiting(count = 1): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.#pending.size < count) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  /**
   * Moves time on and runs what becomes due, in order, each at its own instant. Promises settle between the timers; input
   * and output (Redis, files, sockets) is waited for only by a clock that was told how: await its own event.
   */
  async advance(ms: number): Promise<void> {
    await this.#atRest();
    const end = this.#monotonic + ms;
    for (let next = this.#earliest(end); next !== null; next = this.#earliest(end)) {
      this.#moveTo(next.dueAt);
      await this.#run(next);
    }
    this.#moveTo(end);
  }

  /** The process stood still: time goes on by `ms` at once, then everything due runs late, in order. */
  async stall(ms: number): Promise<void> {
    await this.#atRest();
    this.#moveTo(this.#monotonic + ms);
    for (let next = this.#earliest(this.#monotonic); next !== null; next = this.#earliest(this.#monotonic)) {
      await this.#run(next);
    }
  }

  /** The host slept, or its clock was set: the wall clock moves by `ms` (also backwards), timers do not notice. */
  moveWallClock(ms: number): void {
    this.#wall += ms;
  }

  #moveTo(monotonic: number): void {
    const step = Math.max(monotonic - this.#monotonic, 0);
    this.#monotonic += step;
    this.#wall += step;
  }

  async #run(pending: Pending): Promise<void> {
    this.#pending.delete(pending);
    pending.task();
    await this.#atRest();
  }

  #earliest(limit: number): Pending | null {
    let found: Pending | null = null;
    for (const pending of this.#pending) {
      if (pending.dueAt > limit) continue;
      if (
        found === null ||
        pending.dueAt < found.dueAt ||
        (pending.dueAt === found.dueAt && pending.order < found.order)
      ) {
        found = pending;
      }
    }
    return found;
  }
}
