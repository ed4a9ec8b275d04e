/**
 * The records of a project's issues: one for each topic, changed only by compare-and-set, with the issue that belongs to it.
 */
import { INCIDENT_RULES } from '../../../src/config/rules.js';
import { ConflictError } from '../../../src/errors.js';
import type { Logger } from '../../../src/log/logger.js';
import { redactShapes } from '../../../src/log/redact.js';
import { headOf } from '../../../src/log/shorten.js';
import { fingerprintOf, IssueMarks, type IssueTopic, SEVERAL_FAULTS } from './issueMarker.js';
import {
  emptyRecord,
  type IssueRecord,
  type IssueRecords,
  type Occurrence,
  ofFormerVersion,
  withOccurrence,
} from './issueRecords.js';
import { type IssueSink, type IssueSummary, SinkError } from './issueSink.js';

/** Another watchdog may change the same record, a few times an hour. */
const MOST_TRIES = 10;
const MOST_ELSEWHERE = 50;
/** An existing text without a record is kept below ours, up to this length. */
const LONGEST_EARLIER_TEXT = 20_000;

export class IssueLedger {
  readonly #records: IssueRecords;
  readonly #projectKey: string;
  readonly #sink: IssueSink;
  readonly #logger: Logger;

  constructor(records: IssueRecords, projectKey: string, sink: IssueSink, logger: Logger) {
    this.#records = records;
    this.#projectKey = projectKey;
    this.#sink = sink;
    this.#logger = logger;
  }

  /** @returns the record; an empty one with `rev` 0 if none is stored */
  async of(topic: IssueTopic): Promise<IssueRecord> {
    const fingerprint = fingerprintOf(this.#projectKey, topic);
    const stored = await this.#records.get(fingerprint);
    return stored === null ? emptyRecord(fingerprint, this.#projectKey, topic) : ofFormerVersion(stored);
  }

  /** @param edit called again with the newer record if another process was first; its argument to change nothing */
  async change(topic: IssueTopic, edit: (record: IssueRecord) => IssueRecord): Promise<IssueRecord> {
    for (let round = 0; round < MOST_TRIES; round += 1) {
      const record = await this.of(topic);
      const changed = edit(record);
      if (changed === record) return record;
      if (await this.put(changed, record.rev)) return { ...changed, rev: record.rev + 1 };
    }
    const fingerprint = fingerprintOf(this.#projectKey, topic);
    throw new ConflictError(`The record of issue ${fingerprint} is being changed by another process all the time`);
  }

  /** @returns false if the stored record has another `rev` than `expectedRev` */
  put(record: IssueRecord, expectedRev: number): Promise<boolean> {
    return this.#records.put(record.fingerprint, record, expectedRev);
  }

  /** Notes the issue of the topic. If the answer was lost, it counts as new since its POST. */
  async adopt(topic: IssueTopic, issue: IssueSummary): Promise<IssueRecord> {
    const { creating_since } = await this.of(topic);
    // In this order: a crash in between leaves an ambiguous create that counts, not a forgotten one.
    if (creating_since !== null) await this.noteCreated(topic, creating_since);
    return this.change(topic, (record) => {
      if (record.issue?.number === issue.number && record.creating_since === null) return record;
      const reconciled = record.creating_since !== null;
      const isAnother = record.issue !== null && record.issue.number !== issue.number;
      return {
        ...record,
        issue: { number: issue.number, url: issue.url },
        creating_since: null,
        // The issue's own text counts as its last comment.
        ...(reconciled && { last_comment_at: record.creating_since }),
        ...(isAnother && { occurrences: [], dropped: 0, closing: null }),
        // A text without a record must not be overwritten; after a lost answer the text is ours.
        ...(!reconciled && { earlier_text: textBelowMarker(issue.body), stale: true }),
      };
    });
  }

  /** Adds the occurrence to the issue's record, once per incident. */
  join(topic: IssueTopic, occurrence: Occurrence, leftAlone = false): Promise<IssueRecord> {
    return this.change(topic, (record) => {
      const joined = withOccurrence(record, occurrence, false);
      return joined.left_alone === leftAlone ? joined : { ...joined, left_alone: leftAlone };
    });
  }

  /** Notes that the incident belongs in the project's roll-up issue, whatever happens to that. */
  async rollUp(topic: IssueTopic, incidentId: string): Promise<IssueRecord> {
    const target = fingerprintOf(this.#projectKey, SEVERAL_FAULTS);
    const isOther = (one: { readonly incident_id: string }) => one.incident_id !== incidentId;
    await this.change(topic, (record) => ({
      ...record,
      // A POST that was refused has left it there.
      occurrences: record.occurrences.filter(isOther),
      elsewhere: [...record.elsewhere.filter(isOther), { incident_id: incidentId, fingerprint: target }].slice(
        -MOST_ELSEWHERE,
      ),
    }));
    return this.of(SEVERAL_FAULTS);
  }

  /** @returns the incident's record: that of its rule, or of the issue into which the cap moved it */
  async homeOf({ rule, incident_id }: Occurrence): Promise<IssueRecord> {
    const record = await this.of(rule);
    const isMoved = record.elsewhere.some((one) => one.incident_id === incident_id);
    return isMoved ? this.of(SEVERAL_FAULTS) : record;
  }

  async marks(): Promise<IssueMarks> {
    return new IssueMarks(await this.#records.markerKey());
  }

  /** UTC epoch milliseconds; 0 if not within the hour. A POST whose answer was lost counts from the time it went out. */
  async lastNewBeside(topic: IssueTopic): Promise<number> {
    // In this order: a creation that is settled in between moves from the first to the second.
    const others = await Promise.all(INCIDENT_RULES.filter((rule) => rule !== topic).map((rule) => this.of(rule)));
    const last = await this.#records.lastCreated(this.#projectKey);
    return Math.max(last ?? 0, ...others.map(({ creating_since }) => creating_since ?? 0));
  }

  /** A roll-up issue is no new issue of a rule, and does not count against one. */
  async noteCreated(topic: IssueTopic, at: number): Promise<void> {
    if (topic === SEVERAL_FAULTS) return;
    const last = await this.#records.lastCreated(this.#projectKey);
    await this.#records.noteCreated(this.#projectKey, Math.max(at, last ?? 0));
  }

  /** The record's own issue if it is by our user or has our mark, else the own one with its mark. @throws SinkError */
  async issueOf({ issue, fingerprint }: IssueRecord): Promise<IssueSummary | null> {
    const known = issue === null ? null : await this.#sink.get(issue.number);
    const mark = (await this.marks()).keyedIn(known?.body ?? '');
    // Another issue's mark: a file whose number was reassigned after a person had deleted the former one.
    const isOurs = mark === fingerprint || (mark === null && known?.isOwn === true);
    return known !== null && isOurs ? known : this.#marked(fingerprint);
  }

  /** One search, after a POST. If the list lags behind, two issues remain, and further occurrences join one. */
  async olderTwin(ours: IssueSummary, fingerprint: string): Promise<IssueSummary | null> {
    try {
      const kept = await this.#marked(fingerprint);
      return kept !== null && kept.state === 'open' && kept.number < ours.number ? kept : null;
    } catch (error) {
      if (error instanceof SinkError) return null;
      throw error;
    }
  }

  /** The oldest open one, so that every process keeps the same; otherwise the newest closed one. Further open ones are closed. */
  async #marked(fingerprint: string): Promise<IssueSummary | null> {
    const marks = await this.marks();
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

function textBelowMarker(body: string): string {
  return headOf(body.slice(body.indexOf('\n') + 1).trim(), LONGEST_EARLIER_TEXT, redactShapes);
}
