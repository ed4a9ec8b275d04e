/** Which issue belongs to a fingerprint. */
import type { Logger } from '../../../src/log/logger.js';
import type { IssueLedger } from './issueLedger.js';
import type { IssueRecord } from './issueRecords.js';
import { type IssueSink, type IssueSummary, SinkError } from './issueSink.js';

export class IssueFinder {
  readonly #sink: IssueSink;
  readonly #ledger: IssueLedger;
  readonly #logger: Logger;

  constructor(sink: IssueSink, ledger: IssueLedger, logger: Logger) {
    this.#sink = sink;
    this.#ledger = ledger;
    this.#logger = logger;
  }

  /**
   * The record's own issue is by our user, or has our mark: the token may now belong to another user.
   * @returns the issue of the record, else the own one that carries its mark
   * @throws SinkError if either cannot be read
   */
  async issueOf({ issue, fingerprint }: IssueRecord): Promise<IssueSummary | null> {
    const known = issue === null ? null : await this.#sink.get(issue.number);
    const mark = (await this.#ledger.marks()).keyedIn(known?.body ?? '');
    // Another issue's mark: a file whose number was reassigned after a person had deleted the former one.
    const isOurs = mark === fingerprint || (mark === null && known?.isOwn === true);
    return known !== null && isOurs ? known : this.#marked(fingerprint);
  }

  /**
   * One search, after a POST. If the list fails, or lags behind, two issues remain, and further occurrences join one.
   * @returns the older issue that was filed for the same fault at once, and is kept instead of ours
   */
  async olderTwin(ours: IssueSummary, fingerprint: string): Promise<IssueSummary | null> {
    try {
      const kept = await this.#marked(fingerprint);
      return kept !== null && kept.state === 'open' && kept.number < ours.number ? kept : null;
    } catch (error) {
      if (error instanceof SinkError) return null;
      throw error;
    }
  }

  /**
   * The oldest open one, so that every process keeps the same; otherwise the newest closed one. Further open ones were filed by
   * a process that did not know of it, and are closed.
   */
  async #marked(fingerprint: string): Promise<IssueSummary | null> {
    const marks = await this.#ledger.marks();
    const listed = await this.#sink.list();
    const marked = listed.filter(({ body }) => marks.fingerprintIn(body) === fingerprint);
    const open = marked.filter(({ state }) => state === 'open').sort((a, b) => a.number - b.number);
    const [kept, ...twins] = open;
    if (kept === undefined) return marked[0] ?? null;
    for (const { number } of twins) {
      // Closed first: a lost comment is not worth a second one each time.
      await this.#sink.close(number, 'not_planned');
      const comment = `Filed twice for the same at once: #${kept.number} goes on, this one is closed.`;
      await this.#sink.comment(number, comment);
      const said = `issue ${number} is closed: ${kept.number} was filed for the same at once, and is kept`;
      this.#logger.warn({ issue: number, kept: kept.number }, said);
    }
    return kept;
  }
}
