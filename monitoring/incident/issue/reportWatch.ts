/**
 * Whether GitHub takes what is reported. A refusal lasts until a person changes something, such as an expired token, so it is said
 * once: in the log, as a critical event and by the doctor; and again when it is over.
 */
import { describeError } from '../../../src/errors.js';
import type { ReportTrouble } from '../../../src/jobs/reportTroubles.js';
import type { Logger } from '../../../src/log/logger.js';
import { type Clock, isoTime, spokenDuration } from '../../../src/time.js';
import { type EventLog, noticeEvent, writeEvent } from '../../events/notice.js';

export interface ReportWatchOptions {
  readonly troubles: {
    begin(trouble: ReportTrouble): Promise<boolean>;
    end(place: string): Promise<ReportTrouble | null>;
  };
  readonly events: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Follows the answers of one place. */
export class ReportWatch {
  readonly #options: ReportWatchOptions;
  readonly #place: string;

  /** @param place the repository, `owner/name` */
  constructor(options: ReportWatchOptions, place: string) {
    this.#options = options;
    this.#place = place;
  }

  /** @param words why, and what to do */
  async refused(projectKey: string, words: string): Promise<void> {
    const { troubles, clock, logger } = this.#options;
    const since = clock.now();
    const incident_id = `reports-refused-${this.#place.replace(/[^\w-]/g, '_')}-${since}`;
    const trouble = { place: this.#place, incident_id, since, words };
    await this.#orLog(async () => {
      if (!(await troubles.begin(trouble))) return;
      logger.error({ project_key: projectKey, repository: this.#place }, `reports cannot be filed: ${words}`);
      await this.#write(trouble, 'detected');
    });
  }

  async accepted(): Promise<void> {
    const { troubles, clock, logger } = this.#options;
    await this.#orLog(async () => {
      const over = await troubles.end(this.#place);
      if (over === null) return;
      const lasted = spokenDuration(clock.now() - over.since);
      logger.info({ repository: this.#place }, `reports to ${this.#place} are filed again, after ${lasted}`);
      await this.#write(over, 'closed');
    });
  }

  #write({ incident_id, since, words }: ReportTrouble, step: 'detected' | 'closed'): Promise<boolean> {
    const { events, logger, clock } = this.#options;
    const details = { repository: this.#place, since: isoTime(since), words };
    const about = { event: 'reports_refused', reason: 'reports_refused' } as const;
    return writeEvent(events, logger, noticeEvent({ incident_id, step, ...about, details }, clock.now()));
  }

  /** A report must not fail because this could not be noted. */
  async #orLog(note: () => Promise<void>): Promise<void> {
    const { logger } = this.#options;
    await note().catch((err: unknown) => {
      logger.warn({ err }, `whether reports to ${this.#place} are filed is noted later: ${describeError(err)}`);
    });
  }
}
