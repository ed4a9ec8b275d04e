import type { Clock } from './time.js';

/** An observed state; instants are of the monotonic clock. */
interface Seen {
  readonly state: string;
  readonly since: number;
  readonly lookedAt: number;
}

/** How long the states of others have not changed, by this process's own clock. After an absence it begins again. */
export class Unchanged {
  readonly #clock: Clock;
  readonly #mostBetweenMs: number;
  readonly #seen = new Map<string, Seen>();

  /** @param mostBetweenMs milliseconds between two checks, beyond which the earlier one does not count */
  constructor(clock: Clock, mostBetweenMs: number) {
    this.#clock = clock;
    this.#mostBetweenMs = mostBetweenMs;
  }

  /** @returns for how long the state has been this one, in milliseconds */
  look(name: string, state: string): number {
    const now = this.#clock.monotonic();
    const seen = this.#seen.get(name);
    const isSame = seen?.state === state && now - seen.lookedAt <= this.#mostBetweenMs;
    const since = isSame ? seen.since : now;
    this.#seen.set(name, { state, since, lookedAt: now });
    return now - since;
  }

  names(): string[] {
    return [...this.#seen.keys()];
  }

  forget(name: string): void {
    this.#seen.delete(name);
  }

  clear(): void {
    this.#seen.clear();
  }
}
