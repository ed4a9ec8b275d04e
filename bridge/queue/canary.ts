/**
 * A job now and then that runs no agent. If the worker takes it, that proves that it takes jobs: a worker may be connected,
 * wait for jobs, and never get any. Such a process is ended, because its supervisor starts it again; nothing in it would wake
 * the worker up.
 */
import { UnreachableError } from '../../src/errors.js';
import type { Logger } from '../../src/log/logger.js';
import { RepeatedService } from '../../src/rounds.js';
import { type Clock, describeDuration, SECOND } from '../../src/time.js';
import type { WorkerSigns } from '../health/gauges.js';

const CANARY_EVERY_MS = 30 * SECOND;
/**
 * Looks in a row that found a canary added and none taken. A count, so that a suspension of the process does not add to it.
 */
const MOST_LEFT = 10;

export interface CanariesParts {
  readonly queue: { addCanary(): Promise<void> };
  readonly worker: WorkerSigns;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long this process may stall, in milliseconds; a worker may for five times that long. */
  readonly stallMs: number;
}

export class Canaries extends RepeatedService {
  readonly name = 'canaries';
  readonly #parts: CanariesParts;
  readonly #everyMs: number;
  readonly #lost = new AbortController();
  /** The last canary, and the worker's last activity before it; null if none was added. */
  #added: { readonly activeBefore: number | null } | null = null;
  /** Canaries in a row that the worker has not taken. */
  #left = 0;

  constructor(parts: CanariesParts) {
    const everyMs = Math.min(CANARY_EVERY_MS, parts.stallMs / 2);
    super(parts.clock, everyMs);
    this.#parts = parts;
    this.#everyMs = everyMs;
  }

  /** Aborted, with an UnreachableError as its reason, when the worker takes no jobs although Redis accepts them. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  override async stop(): Promise<void> {
    await super.stop();
    this.#added = null;
  }

  async runOnce(): Promise<void> {
    const { worker } = this.#parts;
    const isLeft = this.#added !== null && !worker.isFull && worker.lastActiveAt === this.#added.activeBefore;
    this.#left = isLeft ? this.#left + 1 : 0;
    if (this.#left === MOST_LEFT) this.#giveUp();
    const activeBefore = worker.lastActiveAt;
    this.#added = (await this.#add()) ? { activeBefore } : null;
  }

  async #add(): Promise<boolean> {
    try {
      await this.#parts.queue.addCanary();
      return true;
    } catch (err) {
      this.#parts.logger.debug({ err }, 'no canary could be added');
      return false;
    }
  }

  #giveUp(): void {
    const lastedMs = MOST_LEFT * this.#everyMs;
    const words = `Redis accepts jobs, but the worker of this bridge has received none for ${describeDuration(lastedMs)}; the bridge exits to be restarted`;
    this.#parts.logger.error(words);
    this.#lost.abort(new UnreachableError(words));
  }
}
