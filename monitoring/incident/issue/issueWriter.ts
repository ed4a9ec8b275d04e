/** What is written to an issue: its creation, its text, a comment now and then. */
import type { PublicDetail } from '../../../src/config/settings.js';
import { describeError } from '../../../src/errors.js';
import { type Clock, HOUR } from '../../../src/time.js';
import { issueBody, issueComment } from './issueBody.js';
import type { IssueLedger } from './issueLedger.js';
import { issueTitle } from './issueMarker.js';
import { emptyRecord, type IssueRecord, type Occurrence, withOccurrence } from './issueRecords.js';
import { type IssueSink, type IssueSummary, SinkError } from './issueSink.js';

const COMMENT_EVERY_MS = 4 * HOUR;
/** Each rewrite means that another occurrence came in while the text was written. */
const MOST_REWRITES = 3;

export class IssueWriter {
  readonly #sink: IssueSink;
  readonly #ledger: IssueLedger;
  readonly #publicDetail: PublicDetail;
  readonly #clock: Clock;

  constructor(sink: IssueSink, ledger: IssueLedger, publicDetail: PublicDetail, clock: Clock) {
    this.#sink = sink;
    this.#ledger = ledger;
    this.#publicDetail = publicDetail;
    this.#clock = clock;
  }

  /**
   * One POST, announced in the record before it goes out.
   * @param isFree called after the announcement: whether the project may still get a new issue
   * @returns the new issue; null if another process changed the record first, or is about to file another one
   * @throws SinkError; after `ambiguous` the record still has `creating_since`
   */
  async create(
    record: IssueRecord,
    occurrence: Occurrence,
    isFree: () => Promise<boolean>,
  ): Promise<IssueSummary | null> {
    const { fingerprint, project_key, rule, rev, elsewhere } = record;
    const detail = await this.#detail();
    const mark = (await this.#ledger.marks()).line(fingerprint);
    // An issue that was closed long ago keeps its occurrences to itself.
    const base = record.issue === null ? record : { ...emptyRecord(fingerprint, project_key, rule), elsewhere };
    const filed = !base.occurrences.some((one) => one.filed);
    const creating = {
      ...withOccurrence(base, occurrence, filed),
      creating_since: this.#clock.now(),
      closing: null,
      stale: false,
    };
    if (!(await this.#ledger.put(creating, rev))) return null;
    if (!(await isFree())) {
      await this.#takeBack(creating);
      return null;
    }
    let issue: IssueSummary;
    try {
      issue = await this.#sink.create(issueTitle(project_key, rule), issueBody(creating, detail, mark));
    } catch (error) {
      if (error instanceof SinkError && error.kind !== 'ambiguous') await this.#takeBack(creating);
      throw error;
    }
    // In this order: a crash in between leaves an ambiguous create that counts, not a forgotten one.
    await this.#ledger.noteCreated(fingerprint, this.#clock.now());
    await this.#ledger.change(fingerprint, (current) => ({
      ...current,
      issue: { number: issue.number, url: issue.url },
      creating_since: null,
      last_comment_at: this.#clock.now(),
    }));
    await this.writeText(fingerprint);
    return issue;
  }

  /**
   * Writes the issue's text from its record if it is stale, until the record did not change meanwhile.
   * @throws SinkError
   */
  async writeText(fingerprint: string): Promise<void> {
    for (let round = 0; round < MOST_REWRITES; round += 1) {
      const record = await this.#ledger.of(fingerprint);
      if (!record.stale || record.issue === null || record.left_alone) return;
      const mark = (await this.#ledger.marks()).line(fingerprint);
      const body = issueBody(record, await this.#detail(), mark);
      try {
        await this.#sink.update(record.issue.number, body);
      } catch (error) {
        if (error instanceof SinkError && (error.status === 404 || error.status === 410)) {
          await this.#forgetIssue(fingerprint, record.issue.number);
        }
        throw error;
      }
      if (await this.#ledger.put({ ...record, stale: false }, record.rev)) return;
      // Another process's newer text may just have been overwritten with ours.
      await this.#ledger.change(fingerprint, (current) => (current.stale ? current : { ...current, stale: true }));
    }
  }

  /**
   * Comments, if the last comment is four hours old. A comment may be lost: the text above it holds everything.
   * @returns whether one was written, and what went wrong, in words
   */
  async commentNowAndThen(
    fingerprint: string,
    number: number,
    occurrence: Occurrence,
  ): Promise<{ isWritten: boolean; error: string | null }> {
    const now = this.#clock.now();
    let due = false;
    await this.#ledger.change(fingerprint, (record) => {
      due = record.last_comment_at === null || now - record.last_comment_at >= COMMENT_EVERY_MS;
      return due ? { ...record, last_comment_at: now } : record;
    });
    if (!due) return { isWritten: false, error: null };
    try {
      await this.#sink.comment(number, issueComment(occurrence));
      return { isWritten: true, error: null };
    } catch (error) {
      if (error instanceof SinkError) return { isWritten: false, error: describeError(error) };
      throw error;
    }
  }

  /** The POST was refused, or never went out: the next one need not wait. */
  async #takeBack(creating: IssueRecord): Promise<void> {
    await this.#ledger.change(creating.fingerprint, (current) =>
      current.creating_since === creating.creating_since ? { ...current, creating_since: null } : current,
    );
  }

  /** Somebody deleted the issue: the next report finds another, or files one. */
  async #forgetIssue(fingerprint: string, number: number): Promise<void> {
    await this.#ledger.change(fingerprint, (current) =>
      current.issue?.number === number ? { ...current, issue: null } : current,
    );
  }

  async #detail(): Promise<PublicDetail> {
    return (await this.#sink.visibility()) === 'private' ? 'full' : this.#publicDetail;
  }
}
