/**
 * Wakes the watchdog for one session, one call at a time: requests during a call become one further call. An agent may fail
 * faster than the store can be updated, and its stream must not wait for that.
 */
export class CoalescedWake {
  readonly #call: () => Promise<void>;
  #isWanted = false;
  #isCalling = false;

  /** @param call one wake; must not throw */
  constructor(call: () => Promise<void>) {
    this.#call = call;
  }

  /** Returns at once; a call that begins after this one follows. */
  ask(): void {
    this.#isWanted = true;
    if (!this.#isCalling) void this.#callWhileWanted();
  }

  async #callWhileWanted(): Promise<void> {
    this.#isCalling = true;
    while (this.#isWanted) {
      this.#isWanted = false;
      await this.#call();
    }
    this.#isCalling = false;
  }
}
