/** Logs that were read, perhaps closed: where one is read again, only the lines that followed are folded. */
import type { Log } from './log.js';

export class LastRead<State, Events> {
  readonly #most: number;
  readonly #logs = new Map<string, Log<State, Events>>();

  /** @param most how many are kept, those that were read last */
  constructor(most: number) {
    this.#most = most;
  }

  /** @returns the log as it was read last; undefined if it is not known */
  get(key: string): Log<State, Events> | undefined {
    return this.#logs.get(key);
  }

  set(key: string, log: Log<State, Events>): void {
    this.#logs.delete(key);
    this.#logs.set(key, log);
    const [oldest] = this.#logs.keys();
    if (this.#logs.size > this.#most && oldest !== undefined) this.#logs.delete(oldest);
  }

  delete(key: string): void {
    this.#logs.delete(key);
  }
}
