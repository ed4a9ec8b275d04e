/**
 * Writes an issue: its creation, its text, a comment now and then, and its end. It is closed when everything in it ended well,
 * and reopened when the fault returns. A person has the last word: an issue that a person reopens stays open.
 */
import type { PublicDetail } from '../../../src/config/settings.js';
import { describeError } from '../../../src/errors.js';
import { failpoint } from '../../../src/failpoints.js';
import { type Clock, HOUR } from '../../../src/time.js';
import { closingComment, issueBody, issueComment } from './issueBody.js';
import type { IssueLedger } from './issueLedger.js';
import { type IssueTopic, isRollUpTitle, issueTitle, SEVERAL_FAULTS } from './issueMarker.js';
import { emptyRecord, type IssueRecord, isDue, type Occurrence, withOccurrence } from './issueRecords.js';
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

  /** One POST, announced first; then `isFree` decides. @returns null if another process was first @throws SinkError */
  async create(
    record: IssueRecord,
    occurrence: Occurrence,
    isFree: () => Promise<boolean>,
  ): Promise<IssueSummary | null> {
    const { fingerprint, project_key, rule, rev, elsewhere } = record;
    const sight = await this.#sight();
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
      issue = await this.#sink.create(titleOf(creating), issueBody(creating, sight.detail, mark, sight.isPrivate));
    } catch (error) {
      if (error instanceof SinkError && error.kind !== 'ambiguous') await this.#takeBack(creating);
      throw error;
    }
    // In this order: a crash in between leaves an ambiguous create that counts, not a forgotten one.
    await this.#ledger.noteCreated(rule, this.#clock.now());
    await this.#ledger.change(rule, (current) => ({
      ...current,
      issue: { number: issue.number, url: issue.url },
      title: titleOf(creating),
      creating_since: null,
      last_comment_at: this.#clock.now(),
    }));
    await this.writeText(rule);
    return issue;
  }

  /** Writes the text if it is stale, and again if the record changed during the write. @throws SinkError */
  async writeText(topic: IssueTopic): Promise<void> {
    for (let round = 0; round < MOST_REWRITES; round += 1) {
      const record = await this.#ledger.of(topic);
      if (!record.stale || record.issue === null || record.left_alone) return;
      const mark = (await this.#ledger.marks()).line(record.fingerprint);
      const { detail, isPrivate } = await this.#sight();
      const body = issueBody(record, detail, mark, isPrivate);
      const title = titleOf(record);
      try {
        const isNew = await this.#mayRename(record, record.issue.number, title);
        await this.#sink.update(record.issue.number, body, isNew ? title : undefined);
      } catch (error) {
        if (error instanceof SinkError && (error.status === 404 || error.status === 410)) {
          await this.#forgetIssue(topic, record.issue.number);
        }
        throw error;
      }
      if (await this.#ledger.put({ ...record, title, stale: false }, record.rev)) return;
      // Another process's newer text may just have been overwritten with ours.
      await this.#ledger.change(topic, (current) => (current.stale ? current : { ...current, stale: true }));
    }
  }

  /** The first rule gives a roll-up issue its name, and the second one changes it; a name that a person gave it stays. */
  async #mayRename({ rule, project_key, title: former }: IssueRecord, number: number, title: string): Promise<boolean> {
    if (rule !== SEVERAL_FAULTS || former === title) return false;
    const seen = await this.#sink.get(number);
    return seen !== null && seen.title !== title && isRollUpTitle(project_key, seen.title);
  }

  /** Comments, if the last comment is four hours old. @returns what went wrong, in words */
  async commentNowAndThen(topic: IssueTopic, number: number, occurrence: Occurrence) {
    const now = this.#clock.now();
    let due = false;
    await this.#ledger.change(topic, (record) => {
      due = record.last_comment_at === null || now - record.last_comment_at >= COMMENT_EVERY_MS;
      return due ? { ...record, last_comment_at: now } : record;
    });
    if (!due) return { isWritten: false, error: null };
    const error = await this.#comment(number, issueComment(occurrence));
    return { isWritten: error === null, error };
  }

  /** Closes the issue if every occurrence has ended well. Called again, it resumes. @throws SinkError */
  async closeIfSettled(topic: IssueTopic): Promise<void> {
    const record = await this.#ledger.of(topic);
    if (record.issue === null || !isDue(record)) return;
    const { number } = record.issue;
    const seen = await this.#sink.get(number);
    if (seen?.state === 'open') {
      if (!(await this.#close(topic, number))) return;
    } else if (record.closing !== 'closing' || seen?.closedAs !== 'completed') {
      await this.#ledger.change(topic, (current) =>
        current.closing === 'closing' ? { ...current, closing: null } : current,
      );
      return;
    }
    // Otherwise it was closed by a request whose answer was lost, or whose process died: the note is still missing.
    let isNoted = true;
    const closed = await this.#ledger.change(topic, (current) => {
      isNoted = current.closing !== 'closing';
      return isNoted ? current : { ...current, closing: 'closed', last_comment_at: this.#clock.now() };
    });
    // Another process has added an occurrence in between.
    if (closed.closing !== 'closed') return this.#sink.reopen(number);
    if (!isNoted) await this.#comment(number, closingComment(closed));
  }

  /** @returns false if another process has added an occurrence by now */
  async #close(topic: IssueTopic, number: number): Promise<boolean> {
    const { closing } = await this.#ledger.change(topic, (record) =>
      record.closing === null && isDue(record) ? { ...record, closing: 'closing' } : record,
    );
    if (closing !== 'closing') return false;
    failpoint('issue.close.before');
    await this.#sink.close(number, 'completed');
    failpoint('issue.close.after');
    return true;
  }

  /** Reopens a closed issue for a new occurrence; those already in it no longer count. */
  async reopen(topic: IssueTopic, number: number): Promise<void> {
    await this.#sink.reopen(number);
    await this.#ledger.change(topic, (record) => ({
      ...record,
      closing: null,
      occurrences: record.occurrences.map((one) => ({ ...one, settled: true })),
    }));
  }

  /** The issue was seen open: if it had been closed here, a person has reopened it. */
  async noteOpen(topic: IssueTopic): Promise<void> {
    await this.#ledger.change(topic, (record) =>
      record.closing === 'closed' ? { ...record, closing: 'kept_open' } : record,
    );
  }

  /** Reopens an issue that another process closed between the check and the new occurrence. */
  async stayOpen({ rule, closing }: IssueRecord, number: number): Promise<void> {
    if (closing !== 'closed') return;
    await this.#sink.reopen(number);
    await this.#ledger.change(rule, (record) => ({ ...record, closing: null }));
  }

  /** Tries once: the text above says the same. @returns what went wrong, in words; null if it is written */
  async #comment(number: number, text: string): Promise<string | null> {
    try {
      await this.#sink.comment(number, text);
      return null;
    } catch (error) {
      if (error instanceof SinkError) return describeError(error);
      throw error;
    }
  }

  /** The POST was refused, or never went out: the next one need not wait. */
  async #takeBack(creating: IssueRecord): Promise<void> {
    await this.#ledger.change(creating.rule, (current) =>
      current.creating_since === creating.creating_since ? { ...current, creating_since: null } : current,
    );
  }

  /** The issue was deleted: the next report finds another, or files one. */
  async #forgetIssue(topic: IssueTopic, number: number): Promise<void> {
    await this.#ledger.change(topic, (current) =>
      current.issue?.number === number ? { ...current, issue: null } : current,
    );
  }

  async #sight(): Promise<{ detail: PublicDetail; isPrivate: boolean }> {
    const isPrivate = (await this.#sink.visibility()) === 'private';
    return { detail: isPrivate ? 'full' : this.#publicDetail, isPrivate };
  }
}

/** A roll-up issue of several rules keeps that name: older occurrences may no longer be kept. */
function titleOf({ project_key, rule, occurrences, title }: IssueRecord): string {
  const several = issueTitle(project_key, SEVERAL_FAULTS);
  if (rule === SEVERAL_FAULTS && title === several) return several;
  return issueTitle(
    project_key,
    rule,
    occurrences.map((one) => one.rule),
  );
}
