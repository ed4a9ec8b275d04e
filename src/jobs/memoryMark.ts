/**
 * By what a process sees that Redis has forgotten something: a mark that it writes anew every few seconds, and that has to
 * be there the next time as it was written last. A connection that stands shows neither FLUSHALL nor a replica that
 * took over.
 */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { type Clock, DAY, MINUTE } from '../time.js';
import type { Keys } from './keys.js';

/** Longer than a Redis is away that anybody still waits for. */
const KEPT_MS = DAY;
/** Redis may have another clock. */
const CLOCKS_DIFFER_MS = 5 * MINUTE;
/** Marks whose answer was lost, and that may be there. */
const MOST_UNCONFIRMED = 100;

/**
 * `all`: the mark is gone, and the rest with it. `last`: an older one is there, as after a failover; or it is gone and may have
 * expired, because this process stood still for a day, as a laptop that sleeps does.
 */
export type Forgotten = 'nothing' | 'last' | 'all';

export class MemoryMark {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #clock: Pick<Clock, 'now'>;
  /** When the last one that is certainly there was written, epoch milliseconds. */
  #writtenAt = 0;
  #count = 0;
  /** Those that may be there; null before the first one was taken. */
  #possible: readonly string[] | null = null;

  constructor(redis: Redis, keys: Keys, clock: Pick<Clock, 'now'>) {
    this.#redis = redis;
    this.#clock = clock;
    this.#key = keys.memoryMark(randomBytes(8).toString('hex'));
  }

  /**
   * @returns what the store has forgotten since the last call
   * @throws ioredis' error where Redis is away or refuses
   */
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
