import type { Logger } from '../../src/log/logger.js';
import { type Clock, SECOND } from '../../src/time.js';
import { ChatError } from './chatError.js';

/** Beyond this many at once, further ones are dropped: a chat that hangs must not fill the memory. */
const MOST_AT_ONCE = 200;
const STOP_LIMIT_MS = 2 * SECOND;

/** Calls that may be lost and that nobody waits for: reactions, short answers, typing. */
export class Errands {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Never throws, and never rejects. */
  run(name: string, errand: (signal: AbortSignal) => Promise<unknown>): void {
    if (this.#running.size >= MOST_AT_ONCE || this.#ending.signal.aborted) {
      const said = 'dropped: too many minor chat calls are in progress, or the bridge is stopping';
      this.#logger.warn({ errand: name }, said);
      return;
    }
    const run = this.#attempt(name, errand).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  async #attempt(name: string, errand: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const { signal } = this.#ending;
    try {
      await errand(signal);
    } catch (err) {
      const level = err instanceof ChatError ? 'debug' : 'warn';
      if (!signal.aborted) this.#logger[level]({ err, errand: name }, 'a small call to the chat failed');
    }
  }

  /** Gives calls in progress a moment, then ends them; resolves when none is left. */
  async stop(): Promise<void> {
    const idle = Promise.all(this.#running).then(() => this.#ending.abort());
    await Promise.race([idle, this.#clock.sleep(STOP_LIMIT_MS, this.#ending.signal)]);
    this.#ending.abort();
    await Promise.all(this.#running);
  }
}
