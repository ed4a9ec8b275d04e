/** A service that refuses until a person changes something: a critical event says so once, and once more when it is over. */
import { describeError } from '../../src/errors.js';
import type { CriticalEventName } from '../../src/jobs/incidents.js';
import type { Trouble } from '../../src/jobs/troubles.js';
import type { Logger } from '../../src/log/logger.js';
import { type Clock, isoTime } from '../../src/time.js';
import { type EventLog, noticeEvent, writeEvent } from './notice.js';

export interface TroubleWatchOptions {
  readonly troubles: {
    begin(trouble: Trouble): Promise<'begun' | 'words' | null>;
    end(place: string): Promise<Trouble | null>;
  };
  readonly events: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Refusal {
  readonly event: CriticalEventName;
  /** The critical event's reason; stable, without spaces. */
  readonly reason: string;
  /** The name of the place in the event's details. */
  readonly placeName: string;
}

/** Follows the answers to one place. */
export class TroubleWatch {
  readonly #options: TroubleWatchOptions;
  readonly #refusal: Refusal;
  readonly #place: string;

  constructor(options: TroubleWatchOptions, refusal: Refusal, place: string) {
    this.#options = options;
    this.#refusal = refusal;
    this.#place = place;
  }

  /** Never throws. @param words why, and what to do. @returns whether it is news */
  async begin(words: string): Promise<boolean> {
    const { troubles, clock } = this.#options;
    const since = clock.now();
    const incident_id = `${this.#refusal.reason.replaceAll('_', '-')}-${this.#place.replace(/[^\w-]/g, '_')}-${since}`;
    const trouble = { place: this.#place, incident_id, since, words };
    return this.#orLog(false, async () => {
      const news = await troubles.begin(trouble);
      if (news === 'begun') await this.#write(trouble, 'detected');
      return news !== null;
    });
  }

  /** Never throws. @returns the trouble that is over; null if there was none, or another process has said so */
  async end(): Promise<Trouble | null> {
    return this.#orLog(null, async () => {
      const over = await this.#options.troubles.end(this.#place);
      if (over !== null) await this.#write(over, 'closed');
      return over;
    });
  }

  #write({ incident_id, since, words }: Trouble, step: 'detected' | 'closed'): Promise<boolean> {
    const { events, logger, clock } = this.#options;
    const { event, reason, placeName } = this.#refusal;
    const details = { [placeName]: this.#place, since: isoTime(since), words };
    return writeEvent(events, logger, noticeEvent({ incident_id, step, event, reason, details }, clock.now()));
  }

  /** The caller's request must not fail because this could not be noted. */
  async #orLog<Result>(otherwise: Result, note: () => Promise<Result>): Promise<Result> {
    return note().catch((err: unknown) => {
      const { logger } = this.#options;
      logger.warn({ err }, `whether ${this.#place} refuses us is noted later: ${describeError(err)}`);
      return otherwise;
    });
  }
}
