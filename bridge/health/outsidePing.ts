/** Notifies an address outside after each full check, so that a service there notices what nothing on this host can report. */
import { describeError } from '../../src/errors.js';
import type { Logger } from '../../src/log/logger.js';
import { type Clock, SECOND } from '../../src/time.js';

const PING_WITHIN_MS = 10 * SECOND;

export class OutsidePing {
  /** Everyone who knows it could send pings instead of us, so only its origin is logged. */
  readonly #url: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #isDue: () => Promise<boolean>;
  #pinging: Promise<void> | null = null;
  #isFailing = false;

  /** @param isDue false skips the ping, so that the outside notices that something is wrong */
  constructor(url: string, clock: Clock, logger: Logger, isDue: () => Promise<boolean> = async () => true) {
    this.#url = url;
    this.#isDue = isDue;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Resolves when the ping has ended; never throws. While one is in progress the next one is skipped. */
  ping(): Promise<void> {
    this.#pinging ??= this.#sendIfDue().finally(() => {
      this.#pinging = null;
    });
    return this.#pinging;
  }

  /** If the answer is not available, for example while Redis is down, no ping is sent either. */
  async #sendIfDue(): Promise<void> {
    if (await this.#isDue().catch(() => false)) await this.#send();
  }

  async #send(): Promise<void> {
    const late = new AbortController();
    const timer = this.#clock.after(PING_WITHIN_MS, () => late.abort(new Error('no answer in time')));
    try {
      const response = await fetch(this.#url, { signal: late.signal, headers: { 'user-agent': 'watchkeeper' } });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`it answered ${response.status}`);
      if (this.#isFailing) this.#logger.info(`${this.#origin} gets the pings of the watchdog again`);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) {
        const words = describeError(error).replaceAll(this.#url, this.#origin);
        this.#logger.warn(
          `${this.#origin} (WATCHDOG_PING_URL) did not get the ping of the watchdog: ${words}. This is logged once; the watchdog continues`,
        );
      }
      this.#isFailing = true;
    } finally {
      timer.cancel();
    }
  }

  get #origin(): string {
    return new URL(this.#url).origin;
  }
}
