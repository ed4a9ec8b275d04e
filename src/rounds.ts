/** Work that is repeated, with a pause after each round, until it is stopped. */
import type { Service } from './service.js';
import type { Clock } from './time.js';

type Beginning = 'with a round' | 'with a pause';

export class Rounds {
  readonly #clock: Clock;
  readonly #round: () => Promise<unknown>;
  readonly #pauseMs: () => number;
  #stopping = new AbortController();
  #running: Promise<void> | null = null;

  /** @param round must not throw @param pauseMs after each round, in milliseconds */
  constructor(clock: Clock, round: () => Promise<unknown>, pauseMs: number | (() => number)) {
    this.#clock = clock;
    this.#round = round;
    this.#pauseMs = typeof pauseMs === 'number' ? () => pauseMs : pauseMs;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Idempotent. */
  start(begins: Beginning = 'with a round'): void {
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

  async #repeat(begins: Beginning, stopped: AbortSignal): Promise<void> {
    if (begins === 'with a pause') await this.#clock.sleep(this.#pauseMs(), stopped);
    while (!stopped.aborted) {
      await this.#round();
      await this.#clock.sleep(this.#pauseMs(), stopped);
    }
  }
}

/** A service that is nothing but rounds. */
export abstract class RepeatedService implements Service {
  abstract readonly name: string;
  readonly #rounds: Rounds;
  readonly #begins: Beginning;

  constructor(clock: Clock, pauseMs: number, begins: Beginning = 'with a round') {
    this.#rounds = new Rounds(clock, () => this.round(), pauseMs);
    this.#begins = begins;
  }

  get isRunning(): boolean {
    return this.#rounds.isRunning;
  }

  async start(): Promise<void> {
    this.#rounds.start(this.#begins);
  }

  async stop(): Promise<void> {
    await this.#rounds.stop();
  }

  /** The step by itself. */
  abstract runOnce(): Promise<unknown>;

  /** The step as it is repeated: overridden if {@link runOnce} may throw. */
  protected round(): Promise<unknown> {
    return this.runOnce();
  }
}
