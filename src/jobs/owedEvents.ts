/** Critical events that their file could not take, as JSON, in the order in which they are to stand there. */
import type { Redis } from 'ioredis';
import type { Keys } from './keys.js';

export class OwedEvents {
  readonly #redis: Redis;
  readonly #keys: Keys;

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Puts the event behind the others. Twice is harmless, for each has an id. */
  async add(logsId: string, event: string): Promise<void> {
    await this.#redis.rpush(this.#keys.owedEvents(logsId), event);
  }

  /** @returns the one that is to be written first; null where nothing is owed */
  first(logsId: string): Promise<string | null> {
    return this.#redis.lindex(this.#keys.owedEvents(logsId), 0);
  }

  /** Takes away one that was written, and no other: two processes may write the same one at once. */
  async settle(logsId: string, event: string): Promise<void> {
    await this.#redis.lrem(this.#keys.owedEvents(logsId), 1, event);
  }

  count(logsId: string): Promise<number> {
    return this.#redis.llen(this.#keys.owedEvents(logsId));
  }
}
