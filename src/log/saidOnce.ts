/** Logs a fault of each thing once, until it is fixed or a different one occurs. */
import type { Logger } from './logger.js';

export class SaidOnce {
  readonly #logger: Logger;
  readonly #said = new Map<string, string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  error(key: string, sentence: string, details: object = {}): void {
    if (this.#said.get(key) === sentence) return;
    this.#said.set(key, sentence);
    this.#logger.error(details, sentence);
  }

  forget(key: string): void {
    this.#said.delete(key);
  }

  /** Forgets things that no longer exist, so that the memory does not grow. */
  forgetAllBut(keys: { has(key: string): boolean }): void {
    for (const key of this.#said.keys()) if (!keys.has(key)) this.#said.delete(key);
  }
}
