/**
 * Closes an issue when everything in it ended well, and reopens it when the fault returns. A person has the last word: an issue
 * that somebody reopens stays open.
 */
import { failpoint } from '../../../src/failpoints.js';
import type { Clock } from '../../../src/time.js';
import type { IssueLedger } from './issueLedger.js';
import type { IssueRecord } from './issueRecords.js';
import { type IssueSink, SinkError } from './issueSink.js';

export class IssueCloser {
  readonly #sink: IssueSink;
  readonly #ledger: IssueLedger;
  readonly #clock: Clock;

  constructor(sink: IssueSink, ledger: IssueLedger, clock: Clock) {
    this.#sink = sink;
    this.#ledger = ledger;
    this.#clock = clock;
  }

  /**
   * Closes the issue of the record if every occurrence has ended well. Called again, it resumes.
   * @throws SinkError
   */
  async closeIfSettled(fingerprint: string): Promise<void> {
    const record = await this.#ledger.of(fingerprint);
    if (record.issue === null || !isDue(record)) return;
    const { number } = record.issue;
    const seen = await this.#sink.get(number);
    if (seen?.state === 'open') {
      if (!(await this.#close(fingerprint, number))) return;
    } else if (record.closing !== 'closing' || seen?.closedAs !== 'completed') {
      await this.#ledger.change(fingerprint, (current) =>
        current.closing === 'closing' ? { ...current, closing: null } : current,
      );
      return;
    }
    // Otherwise it was closed by a request whose answer was lost, or whose process died: the note is still missing.
    let isNoted = true;
    const closed = await this.#ledger.change(fingerprint, (current) => {
      isNoted = current.closing !== 'closing';
      return isNoted ? current : { ...current, closing: 'closed', last_comment_at: this.#clock.now() };
    });
    // Another process has added an occurrence meanwhile.
    if (closed.closing !== 'closed') return this.#sink.reopen(number);
    if (!isNoted) await this.#comment(number, closingComment(closed));
  }

  /** @returns false if another process has added an occurrence meanwhile */
  async #close(fingerprint: string, number: number): Promise<boolean> {
    const { closing } = await this.#ledger.change(fingerprint, (record) =>
      record.closing === null && isDue(record) ? { ...record, closing: 'closing' } : record,
    );
    if (closing !== 'closing') return false;
    failpoint('issue.close.before');
    await this.#sink.close(number, 'completed');
    failpoint('issue.close.after');
    return true;
  }

  /** Reopens a closed issue for a new occurrence; those already in it no longer count. */
  async reopen(fingerprint: string, number: number): Promise<void> {
    await this.#sink.reopen(number);
    await this.#ledger.change(fingerprint, (record) => ({
      ...record,
      closing: null,
      occurrences: record.occurrences.map((one) => ({ ...one, settled: true })),
    }));
  }

  /** The issue was seen open: if it had been closed here, a person has reopened it. */
  async noteOpen(fingerprint: string): Promise<void> {
    await this.#ledger.change(fingerprint, (record) =>
      record.closing === 'closed' ? { ...record, closing: 'kept_open' } : record,
    );
  }

  /** Reopens an issue that another process closed between the check and the new occurrence. */
  async stayOpen({ fingerprint, closing }: IssueRecord, number: number): Promise<void> {
    if (closing !== 'closed') return;
    await this.#sink.reopen(number);
    await this.#ledger.change(fingerprint, (record) => ({ ...record, closing: null }));
  }

  /** At most once: the text above it says the same. */
  async #comment(number: number, text: string): Promise<void> {
    try {
      await this.#sink.comment(number, text);
    } catch (error) {
      if (!(error instanceof SinkError)) throw error;
    }
  }
}

function isDue({ closing, left_alone, occurrences }: IssueRecord): boolean {
  if (closing !== null) return closing === 'closing';
  return !left_alone && occurrences.length > 0 && occurrences.every(({ settled }) => settled);
}

function closingComment({ occurrences }: IssueRecord): string {
  // An occurrence that failed no longer counts once a person has closed the issue after it.
  const hasFailed = occurrences.some(({ needs }) => needs.who !== 'nobody');
  const count = hasFailed ? 'Every occurrence since it was last opened' : `All ${occurrences.length} occurrences`;
  const ended = occurrences.length === 1 ? 'It ended well' : `${count} ended well; the last`;
  const last = occurrences.at(-1)?.needs.what ?? 'it is over.';
  return `${ended}: ${last} This issue is closed, and reopened when the fault returns within 14 days. Open it again yourself to keep it open.`;
}
