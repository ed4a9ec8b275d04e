/**
 * Writes a meaningless value every few seconds, so that a Redis that answers but refuses writes is noticed soon, and so is its
 * recovery, even while nobody has anything to store.
 */
import { Rounds } from '../../src/rounds.js';
import type { Service } from '../../src/service.js';
import { type Clock, SECOND } from '../../src/time.js';

const WRITE_EVERY_MS = 5 * SECOND;

export interface StorePulseOptions {
  /** One small write. */
  readonly write: () => Promise<void>;
  /** Called with each result: the error, or null if the write succeeded. */
  readonly onWritten: (error: unknown) => void;
  /** Called at the first success after a failure: what failed meanwhile may be worth another try. */
  readonly onBack: () => void;
  readonly clock: Clock;
}

export class StorePulse implements Service {
  readonly name = 'pulse of the store';
  readonly #options: StorePulseOptions;
  readonly #rounds: Rounds;
  #hasFailed = false;

  constructor(options: StorePulseOptions) {
    this.#options = options;
    this.#rounds = new Rounds(options.clock, () => this.runOnce(), WRITE_EVERY_MS);
  }

  async start(): Promise<void> {
    this.#rounds.start();
  }

  async stop(): Promise<void> {
    await this.#rounds.stop();
  }

  /** One write. */
  async runOnce(): Promise<void> {
    const { write, onWritten, onBack } = this.#options;
    try {
      await write();
      onWritten(null);
    } catch (error) {
      onWritten(error);
      this.#hasFailed = true;
      return;
    }
    if (this.#hasFailed) onBack();
    this.#hasFailed = false;
  }
}
