/**
 * How far the wall clock was ahead of the boot's clock when each message was accepted. The boot's clock continues while the host
 * sleeps, as people's do, and cannot be set: if the wall clock is moved before the end, that shows here, and people do not read
 * that a minute was an hour. Only for messages that this process accepted.
 */
import { type HostCounters, systemCounters } from '../../src/host/counters.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { AcceptedMessage } from '../../src/jobs/transitions.js';
import { Newest } from '../../src/newest.js';
import type { Clock } from '../../src/time.js';

/** For an older message, only a move of the clock during its run is seen. */
const MOST_REMEMBERED = 10_000;

export class AcceptanceClocks {
  readonly #clock: Clock;
  readonly #uptime: Pick<HostCounters, 'sinceBootMs'>;
  readonly #aheadMs = new Newest<string, number>(MOST_REMEMBERED);

  constructor(clock: Clock, uptime: Pick<HostCounters, 'sinceBootMs'> = systemCounters) {
    this.#clock = clock;
    this.#uptime = uptime;
  }

  /** @returns the same way into the store, which also notes the clocks of each message that it accepts */
  noting<Given extends unknown[]>(accept: (...given: Given) => Promise<AcceptedMessage>): typeof accept {
    return async (...given) => {
      const accepted = await accept(...given);
      if (accepted.isNew) this.#aheadMs.set(accepted.session.session_id, this.aheadNow());
      return accepted;
    };
  }

  /** @returns milliseconds; 0 if this system has no clock of the boot */
  aheadNow(): number {
    const bootMs = this.#uptime.sinceBootMs();
    return bootMs === null ? 0 : this.#clock.now() - bootMs;
  }

  /** @returns as {@link aheadNow}, when the session's message was accepted; null if this process did not accept it */
  aheadAt({ session_id, revival_of }: AgentSession): number | null {
    return this.#aheadMs.get(revival_of ?? session_id) ?? null;
  }

  /** @returns by how much the clock was moved since then, in milliseconds; 0 if that is not known */
  movedMs(session: AgentSession): number {
    const aheadAt = this.aheadAt(session);
    return aheadAt === null ? 0 : this.aheadNow() - aheadAt;
  }
}
