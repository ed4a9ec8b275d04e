/**
 * Wakes the watchdog for one session, one call at a time: what is asked for meanwhile becomes one further call. An agent
 * may fail faster than the store can be told, and its stream must not wait for that.
 */
export class CoalescedWake {
  readonly #call: () => Promise<void>;
  #isWanted = false;
  #isCalling = false;

  /** @param call one wake; must not throw */
  constructor(call: () => Promise<void>) {
    this.#call = call;
  }

  /** Returns at once; a call that begins after this follows. */
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
