/**
 * Writes a meaningless value every few seconds, so that a Redis that answers but refuses writes is noticed soon, and so is its
 * recovery, even while nobody has anything to store. The same write finds out whether Redis has forgotten something.
 */
import { MemoryMark } from '../../src/jobs/memoryMark.js';
import type { Store } from '../../src/jobs/store.js';
import { publishWake } from '../../src/jobs/wakes.js';
import type { Logger } from '../../src/log/logger.js';
import { Rounds } from '../../src/rounds.js';
import type { Service } from '../../src/service.js';
import { type Clock, SECOND } from '../../src/time.js';
import type { RedisOutage } from '../redis/redisOutage.js';

const WRITE_EVERY_MS = 5 * SECOND;

export interface StorePulseOptions {
  readonly store: Store;
  readonly host: string;
  readonly outage: RedisOutage;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when Redis has forgotten everything. */
  readonly onForgotten?: () => void;
}

export class StorePulse implements Service {
  readonly name = 'pulse of the store';
  readonly #options: StorePulseOptions;
  readonly #mark: MemoryMark;
  readonly #rounds: Rounds;
  #hasFailed = false;

  constructor(options: StorePulseOptions) {
    const { store, clock } = options;
    this.#options = options;
    this.#mark = new MemoryMark(store.redis, store.keys, clock);
    this.#rounds = new Rounds(clock, () => this.runOnce(), WRITE_EVERY_MS);
  }

  async start(): Promise<void> {
    this.#rounds.start();
  }

  async stop(): Promise<void> {
    await this.#rounds.stop();
  }

  /** One write. */
  async runOnce(): Promise<void> {
    const { store, host, outage } = this.#options;
    try {
      await store.presences.touch(host);
      await this.#renewMark();
      outage.wrote(null);
    } catch (error) {
      outage.wrote(error);
      this.#hasFailed = true;
      return;
    }
    // What failed meanwhile may be worth another try.
    if (this.#hasFailed) this.#lookAtEverything();
    this.#hasFailed = false;
  }

  async #renewMark(): Promise<void> {
    const forgotten = await this.#mark.renew();
    if (forgotten === 'all') this.#options.onForgotten?.();
    if (forgotten !== 'nothing') this.#lookAtEverything();
  }

  #lookAtEverything(): void {
    const { store, logger } = this.#options;
    const lost = (err: unknown) => logger.debug({ err }, 'waiting messages are checked on schedule');
    publishWake(store, { everything: true }).catch(lost);
  }
}
