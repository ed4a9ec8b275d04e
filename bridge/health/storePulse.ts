/**
 * Writes a meaningless value every few seconds, so that a Redis that answers but refuses writes is noticed soon, and so is its
 * recovery, even while there is nothing to store. The same write finds out whether Redis has forgotten something.
 */
import { MemoryMark } from '../../src/jobs/memoryMark.js';
import { publishWake } from '../../src/jobs/wakes.js';
import { RepeatedService } from '../../src/rounds.js';
import { SECOND } from '../../src/time.js';
import type { ChatFoundation } from '../chat/foundation.js';
import type { RedisOutage } from '../redis/redisOutage.js';

const WRITE_EVERY_MS = 5 * SECOND;

export class StorePulse extends RepeatedService {
  readonly name = 'pulse of the store';
  readonly #base: ChatFoundation;
  readonly #outage: RedisOutage;
  readonly #onForgotten: () => void;
  readonly #mark: MemoryMark;
  #hasFailed = false;

  constructor(base: ChatFoundation, outage: RedisOutage, onForgotten: () => void = () => undefined) {
    const { store, clock } = base;
    super(clock, WRITE_EVERY_MS);
    this.#base = base;
    this.#outage = outage;
    this.#onForgotten = onForgotten;
    this.#mark = new MemoryMark(store.redis, store.keys, clock);
  }

  /** One write. */
  async runOnce(): Promise<void> {
    const { store, here } = this.#base;
    try {
      await store.presences.touch(here.host);
      await this.#renewMark();
      this.#outage.wrote(null);
    } catch (error) {
      this.#outage.wrote(error);
      this.#hasFailed = true;
      return;
    }
    // Work that failed during the outage may be worth another try.
    if (this.#hasFailed) this.#lookAtEverything();
    this.#hasFailed = false;
  }

  async #renewMark(): Promise<void> {
    const forgotten = await this.#mark.renew();
    if (forgotten === 'all') this.#onForgotten();
    if (forgotten !== 'nothing') this.#lookAtEverything();
  }

  #lookAtEverything(): void {
    const { store, logger } = this.#base;
    const lost = (err: unknown) => logger.debug({ err }, 'waiting messages are checked on schedule');
    publishWake(store, { everything: true }).catch(lost);
  }
}
