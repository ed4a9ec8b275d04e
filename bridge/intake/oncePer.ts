import { Newest } from '../../src/newest.js';
import type { Clock } from '../../src/time.js';

/** Beyond this many keys the oldest are forgotten: strangers must not fill the memory. */
const MOST_KEYS = 10_000;

/** Says yes once per key and period. Kept in memory: after a restart it says yes once more. */
export class OncePer {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #said = new Newest<string, number>(MOST_KEYS);

  /** @param periodMs milliseconds */
  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  /** @returns whether the period since the last yes for this key has passed */
  first(key: string): boolean {
    const now = this.#clock.monotonic();
    const last = this.#said.get(key);
    if (last !== undefined && now - last < this.#periodMs) return false;
    this.#said.set(key, now);
    return true;
  }
}
