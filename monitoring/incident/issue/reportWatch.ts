/** GitHub refuses reports until a person changes something: that is said once, and again when it is over. */
import { spokenDuration } from '../../../src/time.js';
import { TroubleWatch, type TroubleWatchOptions } from '../../events/troubleWatch.js';

export type ReportWatchOptions = TroubleWatchOptions;

const REFUSAL = { event: 'reports_refused', reason: 'reports_refused', placeName: 'repository' } as const;

/** Follows the answers of one place. */
export class ReportWatch {
  readonly #options: ReportWatchOptions;
  readonly #place: string;
  readonly #trouble: TroubleWatch;

  /** @param place the repository, `owner/name` */
  constructor(options: ReportWatchOptions, place: string) {
    this.#options = options;
    this.#place = place;
    this.#trouble = new TroubleWatch(options, REFUSAL, place);
  }

  /** @param words why, and what to do */
  async refused(projectKey: string, words: string): Promise<void> {
    if (!(await this.#trouble.begin(words))) return;
    const fields = { project_key: projectKey, repository: this.#place };
    this.#options.logger.error(fields, `reports cannot be filed: ${words}`);
  }

  async accepted(): Promise<void> {
    const over = await this.#trouble.end();
    if (over === null) return;
    const { logger, clock } = this.#options;
    const lasted = spokenDuration(clock.now() - over.since);
    logger.info({ repository: this.#place }, `reports to ${this.#place} are filed again, after ${lasted}`);
  }
}
