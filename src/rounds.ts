/** Work that is repeated, with a pause after each round, until it is stopped. */
import type { Clock } from './time.js';

export class Rounds {
  readonly #clock: Clock;
  readonly #round: () => Promise<unknown>;
  readonly #pauseMs: () => number;
  #stopping = new AbortController();
  #running: Promise<void> | null = null;

  /**
   * @param round must not throw
   * @param pauseMs after each round, in milliseconds
   */
  constructor(clock: Clock, round: () => Promise<unknown>, pauseMs: number | (() => number)) {
    this.#clock = clock;
    this.#round = round;
    this.#pauseMs = typeof pauseMs === 'number' ? () => pauseMs : pauseMs;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /**
   * Idempotent.
   * @param begins with a round at once, or with a pause
   */
  start(begins: 'with a round' | 'with a pause' = 'with a round'): void {
    if (this.#running !== null) return;
    this.#stopping = new AbortController();
    this.#running = this.#repeat(begins, this.#stopping.signal);
  }

  /** Cuts a pause short. Resolves when the current round has ended; idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.#running = null;
  }

  async #repeat(begins: 'with a round' | 'with a pause', stopped: AbortSignal): Promise<void> {
    if (begins === 'with a pause') await this.#clock.sleep(this.#pauseMs(), stopped);
    while (!stopped.aborted) {
      await this.#round();
      await this.#clock.sleep(this.#pauseMs(), stopped);
    }
  }
}
