/** Work that runs once at a time: requests during a call share one further call. */
export class Coalesced {
  readonly #work: () => Promise<void>;
  #call: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** @returns when a call has ended that began after this request @throws what that call throws */
  ask(): Promise<void> {
    this.#next ??= this.#call
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        this.#call = this.#work();
        return this.#call;
      });
    return this.#next;
  }
}
