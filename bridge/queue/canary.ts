/**
 * A job now and then that runs no agent. That the worker takes it is the proof that it takes jobs: a worker may be
 * connected, wait for jobs, and get none.
 */
import type { Logger } from '../../src/logger.js';
import type { Service } from '../../src/service.js';
import { type Clock, SECOND } from '../../src/time.js';
import type { JobQueue } from './pump.js';

const CANARY_EVERY_MS = 30 * SECOND;

export class Canaries implements Service {
  readonly name = 'canaries';
  readonly #queue: Pick<JobQueue, 'addCanary'>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #stopping = new AbortController();
  #adding: Promise<void> | null = null;

  constructor(queue: Pick<JobQueue, 'addCanary'>, clock: Clock, logger: Logger) {
    this.#queue = queue;
    this.#clock = clock;
    this.#logger = logger;
  }

  async start(): Promise<void> {
    if (this.#adding !== null) return;
    this.#stopping = new AbortController();
    this.#adding = this.#keepAdding();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#adding;
    this.#adding = null;
  }

  async #keepAdding(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#queue.addCanary().catch((err: unknown) => this.#logger.debug({ err }, 'no canary could be added'));
      await this.#clock.sleep(CANARY_EVERY_MS, this.#stopping.signal);
    }
  }
}
