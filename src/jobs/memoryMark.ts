/**
 * Detects that Redis has forgotten something. Every few seconds the process rewrites a mark, and expects to find its last value
 * the next time. An open connection shows neither FLUSHALL nor a failover to a replica.
 */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { type Clock, DAY, MINUTE } from '../time.js';
import type { Keys } from './keys.js';

/** Longer than any outage of Redis that a process waits for. */
const KEPT_MS = DAY;
/** Redis may have another clock. */
const CLOCKS_DIFFER_MS = 5 * MINUTE;
/** Marks that may have been stored, because their reply was lost. */
const MOST_UNCONFIRMED = 100;

/**
 * `all`: the mark is gone, and everything else with it. `last`: an older mark is there, as after a failover; or it is gone and
 * may have expired, because this process was suspended for a day, as on a sleeping laptop.
 */
export type Forgotten = 'nothing' | 'last' | 'all';

export class MemoryMark {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #clock: Clock;
  /** When the last mark that is certainly stored was written, epoch milliseconds. */
  #writtenAt = 0;
  #count = 0;
  /** The values that may be stored; null before the first write succeeded. */
  #possible: readonly string[] | null = null;

  constructor(redis: Redis, keys: Keys, clock: Clock) {
    this.#redis = redis;
    this.#clock = clock;
    this.#key = keys.memoryMark(randomBytes(8).toString('hex'));
  }

  /** @returns the loss since the last call @throws ioredis' error if Redis is unavailable or refuses the write */
  async renew(): Promise<Forgotten> {
    this.#count += 1;
    const next = String(this.#count);
    const possible = this.#possible;
    const now = this.#clock.now();
    const mayHaveExpired = now - this.#writtenAt > KEPT_MS - CLOCKS_DIFFER_MS;
    if (possible !== null) this.#possible = [...possible, next].slice(-MOST_UNCONFIRMED);
    const found = await this.#redis.set(this.#key, next, 'PX', KEPT_MS, 'GET');
    this.#possible = [next];
    this.#writtenAt = now;
    if (possible === null || (found !== null && possible.includes(found))) return 'nothing';
    return found === null && !mayHaveExpired ? 'all' : 'last';
  }
}
