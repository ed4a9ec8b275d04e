/** Waiting for something to become true at a peer, by its events: nothing polls. */
import { patience } from '../harness/patience.js';

type Falsy = false | null | undefined | 0 | '';

export class Watchers {
  readonly #look = new Set<() => void>();
  readonly #abandon = new Set<(reason: Error) => void>();

  /** To be called after every change that a predicate might look at. */
  check(): void {
    for (const look of [...this.#look]) look();
  }

  /**
   * @param predicate looked at now and after every change
   * @param timeoutMs real milliseconds; more on a machine that needs patience
   * @param describe what stands there now; part of the error, so that a failing test explains itself
   * @returns the first truthy value of the predicate
   * @throws Error after the timeout, when the peer stops, or what the predicate itself throws
   */
  waitFor<T>(predicate: () => T | Falsy, timeoutMs: number, describe: () => string): Promise<T> {
    return new Promise((resolve, reject) => {
      const finish = () => {
        clearTimeout(timer);
        this.#look.delete(look);
        this.#abandon.delete(abandon);
      };
      const abandon = (reason: Error) => {
        finish();
        reject(reason);
      };
      const look = () => {
        try {
          const value = predicate();
          if (!value) return;
          finish();
          resolve(value);
        } catch (thrown) {
          abandon(thrown instanceof Error ? thrown : new Error(String(thrown)));
        }
      };
      const withinMs = timeoutMs * patience();
      const timer = setTimeout(() => {
        abandon(new Error(`not seen within ${withinMs} ms: ${predicate.toString()}\n${describe()}`));
      }, withinMs);
      this.#look.add(look);
      this.#abandon.add(abandon);
      look();
    });
  }

  /** Rejects everything that still waits. */
  stop(): void {
    for (const abandon of [...this.#abandon]) abandon(new Error('the peer was stopped while somebody waited for it'));
  }
}
