/** One piece of work at a time per key. Calls during a turn share the next one, which sees everything that they had seen. */
export class Turns<Result> {
  readonly #turns = new Map<string, { running: Promise<Result>; waiting: Promise<Result> | null }>();

  take(key: string, work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turns.get(key);
    if (turn === undefined) return this.#begin(key, work);
    const next = () => this.#begin(key, work);
    turn.waiting ??= turn.running.then(next, next);
    return turn.waiting;
  }

  /** Running or waiting turns; their callers must leave none of them unhandled. */
  get pending(): Promise<Result>[] {
    return [...this.#turns.values()].map(({ running, waiting }) => waiting ?? running);
  }

  #begin(key: string, work: () => Promise<Result>): Promise<Result> {
    const turn = { running: work(), waiting: null as Promise<Result> | null };
    this.#turns.set(key, turn);
    const end = () => {
      if (turn.waiting === null && this.#turns.get(key) === turn) this.#turns.delete(key);
    };
    turn.running.then(end, end);
    return turn.running;
  }
}
