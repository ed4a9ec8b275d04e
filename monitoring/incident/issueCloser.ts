/**
 * Closes an issue when everything in it ended well, and opens it again when the fault returns. A person has the last word: an
 * issue that somebody opens again stays open.
 */
import { failpoint } from '../../src/failpoints.js';
import type { Clock } from '../../src/time.js';
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
   * Closes the issue of the record where every occurrence has ended well. Called again, it goes on where it broke off.
   * @throws SinkError
   */
  async closeIfSettled(fingerprint: string, signal: AbortSignal): Promise<void> {
    const { issue, closing } = await this.#ledger.change(fingerprint, (record) =>
      record.closing === null && isSettled(record) ? { ...record, closing: 'closing' } : record,
    );
    if (issue === null || closing !== 'closing') return;
    const seen = await this.#sink.get(issue.number, signal);
    if (seen?.state !== 'open') {
      await this.#ledger.change(fingerprint, (record) => ({ ...record, closing: null }));
      return;
    }
    failpoint('issue.close.before');
    await this.#sink.close(issue.number, signal);
    failpoint('issue.close.after');
    const closed = await this.#ledger.change(fingerprint, (record) =>
      record.closing === 'closing' ? { ...record, closing: 'closed', last_comment_at: this.#clock.now() } : record,
    );
    // Another process has put an occurrence in meanwhile.
    if (closed.closing !== 'closed') return this.#sink.reopen(issue.number, signal);
    await this.#comment(issue.number, closingComment(closed), signal);
  }

  /** Opens a closed issue for an occurrence that comes; what is in it already no longer counts. */
  async reopen(fingerprint: string, number: number, signal: AbortSignal): Promise<void> {
    await this.#sink.reopen(number, signal);
    await this.#ledger.change(fingerprint, (record) => ({
      ...record,
      closing: null,
      occurrences: record.occurrences.map((one) => ({ ...one, settled: true })),
    }));
  }

  /** The issue was seen open: if it had been closed here, a person has opened it again. */
  async noteOpen(fingerprint: string): Promise<void> {
    await this.#ledger.change(fingerprint, (record) =>
      record.closing === 'closed' ? { ...record, closing: 'kept_open' } : record,
    );
  }

  /** Opens an issue that another process closed between the look at it and the occurrence that has joined. */
  async stayOpen({ fingerprint, closing }: IssueRecord, number: number, signal: AbortSignal): Promise<void> {
    if (closing !== 'closed') return;
    await this.#sink.reopen(number, signal);
    await this.#ledger.change(fingerprint, (record) => ({ ...record, closing: null }));
  }

  /** At most once: the text above it says the same. */
  async #comment(number: number, text: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#sink.comment(number, text, signal);
    } catch (error) {
      if (!(error instanceof SinkError)) throw error;
    }
  }
}

function isSettled({ left_alone, occurrences }: IssueRecord): boolean {
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
