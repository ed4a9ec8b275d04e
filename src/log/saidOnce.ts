/** Says of each thing what is wrong with it once, until it is well again or something else is wrong. */
import type { Logger } from './logger.js';

export class SaidOnce {
  readonly #logger: Logger;
  readonly #said = new Map<string, string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @param details fields of the log line */
  error(key: string, sentence: string, details: object = {}): void {
    if (this.#said.get(key) === sentence) return;
    this.#said.set(key, sentence);
    this.#logger.error(details, sentence);
  }

  /** It is well again. */
  forget(key: string): void {
    this.#said.delete(key);
  }

  /** Forgets what is gone, so that the memory does not grow. */
  forgetAllBut(keys: Pick<ReadonlySet<string>, 'has'>): void {
    for (const key of this.#said.keys()) if (!keys.has(key)) this.#said.delete(key);
  }
}
