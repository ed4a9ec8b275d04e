/**
 * Files one issue per project and rule, and never two for one; faults that the hourly cap keeps from an issue of their own are
 * collected in the project's roll-up issue.
 *
 * The decision is made in this order: our own record, then the list of our own user's issues in every state, compared by their
 * hidden mark. If either cannot be read, nothing is created. A create is one POST. Before it goes out the record says so
 * (`creating_since`). If its answer is lost, later calls look for the marker, and another POST may follow only when a complete
 * list, taken at least two minutes after the POST, does not contain it. After a POST the list is read once more: of two that
 * were filed at once the older one is kept.
 *
 * nothing known ──► create, if the project made no new issue within the hour; else into the roll-up issue
 * open          ──► join: the text is rewritten, a comment at most every four hours
 * all ended well ─► closed as completed by the watchdog, once; reopened by a person, it stays open
 * completed     ──► within 14 days: reopen and join; later: create
 * not planned   ──► left alone; its link still serves
 *
 * One object serves one project; its reports follow one another. Between processes the records enforce the hourly cap: a create
 * is announced in its own record, then the records of the other rules are checked once more, and of two that see each other
 * neither posts.
 */
import type { PublicDetail } from '../../../src/config/settings.js';
import { describeError } from '../../../src/errors.js';
import type { ReportState } from '../../../src/jobs/incidents.js';
import type { Logger } from '../../../src/log/logger.js';
import type { Redact } from '../../../src/log/redact.js';
import { type Clock, DAY, HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { IssueLedger } from './issueLedger.js';
import { type IssueTopic, SEVERAL_FAULTS } from './issueMarker.js';
import {
  type IssueRecord,
  type IssueRecords,
  type Occurrence,
  occurrenceIn,
  storable,
  withOccurrence,
} from './issueRecords.js';
import { type IssueSink, type IssueSummary, SinkError } from './issueSink.js';
import { IssueWriter } from './issueWriter.js';
import type { ReportWatch } from './reportWatch.js';

export interface ProjectIssuesOptions {
  readonly projectKey: string;
  readonly sink: IssueSink;
  readonly records: IssueRecords;
  /** The detail that is shown if everyone can read the issue; otherwise everything is. */
  readonly publicDetail: PublicDetail;
  readonly redact: Redact;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Follows whether the sink takes reports; absent for a folder. */
  readonly watch?: Pick<ReportWatch, 'refused' | 'accepted'> | null;
}

export interface ReportOutcome {
  readonly state: ReportState;
  /** The issue's address for people; also set while its text could not be written yet. */
  readonly url: string | null;
  /** When to report again, UTC epoch milliseconds; null if the report has ended. */
  readonly retry_at: number | null;
  /** The obstacle, for the operator. */
  readonly error: string | null;
  /** Whether it lasts until a person changes something; missing if it does not. */
  readonly refused?: true;
}

/** Where an occurrence goes that is in no issue yet. */
type Placing<Outcome> = (record: IssueRecord, occurrence: Occurrence) => Promise<Outcome>;

const REOPEN_WITHIN_MS = 14 * DAY;
const NEW_ISSUE_EVERY_MS = HOUR;
/** How long a list may lag behind a POST whose answer was lost. */
const RECONCILE_WITHIN_MS = 2 * MINUTE;
const RETRY_BUSY_MS = 5 * SECOND;
/** `ambiguous`: while it is not known whether the issue was created. */
const RETRY_MS = { not_reached: MINUTE, ambiguous: 15 * SECOND, refused: 15 * MINUTE } as const;
/** People need time to repair a token, but no person needs an issue a day later. */
const GIVE_UP_AFTER_MS = DAY;

export class ProjectIssues {
  readonly #ledger: IssueLedger;
  readonly #writer: IssueWriter;
  readonly #redact: Redact;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #projectKey: string;
  readonly #watch: ProjectIssuesOptions['watch'];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: ProjectIssuesOptions) {
    const { projectKey, sink, records, publicDetail, redact, clock, logger, watch = null } = options;
    this.#projectKey = projectKey;
    this.#watch = watch;
    this.#ledger = new IssueLedger(records, projectKey, sink, logger);
    this.#writer = new IssueWriter(sink, this.#ledger, publicDetail, clock);
    this.#redact = redact;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Idempotent per `incident_id`; call it again at `retry_at`. @throws the records' error, ConflictError */
  createInvestigationIssue(occurrence: Occurrence): Promise<ReportOutcome> {
    return this.#inTurn(occurrence, (record, storable) => this.#place(record, storable));
  }

  /** As {@link createInvestigationIssue}, but only in an open issue, without a comment. @returns null if there is none */
  noteInOpenIssue(occurrence: Occurrence): Promise<ReportOutcome | null> {
    return this.#inTurn(occurrence, (record, storable) => this.#noteWhereOpen(record, storable));
  }

  #inTurn<Outcome extends ReportOutcome | null>(occurrence: Occurrence, place: Placing<Outcome>) {
    const report = this.#turn.then(() => this.#report(storable(occurrence, this.#redact), place));
    this.#turn = report.catch(() => {});
    return report;
  }

  async #report<Outcome extends ReportOutcome | null>(
    occurrence: Occurrence,
    place: Placing<Outcome>,
  ): Promise<Outcome | ReportOutcome> {
    try {
      const record = await this.#ledger.homeOf(occurrence);
      const outcome = (await this.#reportAgain(record, occurrence)) ?? (await place(record, occurrence));
      if (outcome?.error === null) await this.#watch?.accepted();
      return outcome;
    } catch (error) {
      if (!(error instanceof SinkError)) throw error;
      if (error.kind === 'refused') await this.#watch?.refused(this.#projectKey, error.message);
      return unfinished(await this.#ledger.homeOf(occurrence), error, occurrence.at, this.#clock.now());
    }
  }

  /** An incident that was reported before stays in its issue, whatever happened to that. */
  async #reportAgain(record: IssueRecord, occurrence: Occurrence): Promise<ReportOutcome | null> {
    const { rule: topic, issue } = record;
    if (issue === null || occurrenceIn(record, occurrence.incident_id) === undefined) return null;
    await this.#ledger.change(topic, (current) => withOccurrence(current, occurrence, false));
    await this.#writer.writeText(topic);
    await this.#writer.closeIfSettled(topic);
    return finished(stateIn(record, occurrence), issue.url);
  }

  async #place(record: IssueRecord, occurrence: Occurrence): Promise<ReportOutcome> {
    const { rule: topic } = record;
    const issue = await this.#ledger.issueOf(record);
    if (issue === null || this.#isLongOver(issue)) return this.#createIfCertain(record, occurrence);
    if (issue.closedAs === 'not_planned') {
      await this.#ledger.adopt(topic, issue);
      await this.#ledger.join(topic, occurrence, true);
      this.#log(occurrence, issue, 'was closed as not planned and is left alone');
      return finished(stateIn(record, occurrence), issue.url);
    }
    if (issue.state === 'closed') await this.#writer.reopen(topic, issue.number);
    else await this.#writer.noteOpen(topic);
    return this.#join(topic, issue, stateIn(record, occurrence), occurrence);
  }

  async #noteWhereOpen(record: IssueRecord, occurrence: Occurrence): Promise<ReportOutcome | null> {
    const issue = await this.#ledger.issueOf(record);
    if (issue === null || issue.state === 'closed') return null;
    await this.#ledger.adopt(record.rule, issue);
    await this.#ledger.join(record.rule, occurrence);
    await this.#writer.writeText(record.rule);
    return finished(stateIn(record, occurrence), issue.url);
  }

  #isLongOver({ closedAs, closedAt }: IssueSummary): boolean {
    return closedAs === 'completed' && closedAt !== null && this.#clock.now() - closedAt > REOPEN_WITHIN_MS;
  }

  /** @param state of the report once the occurrence has joined the issue */
  async #join(
    topic: IssueTopic,
    issue: IssueSummary,
    state: ReportState,
    occurrence: Occurrence,
  ): Promise<ReportOutcome> {
    await this.#ledger.adopt(topic, issue);
    const joined = await this.#ledger.join(topic, occurrence);
    await this.#writer.stayOpen(joined, issue.number);
    await this.#writer.writeText(topic);
    const comment = await this.#writer.commentNowAndThen(topic, issue.number, occurrence);
    this.#log(occurrence, issue, comment.isWritten ? 'has it now, and a comment says so' : 'has it now');
    return { ...finished(state, issue.url), error: comment.error };
  }

  async #createIfCertain(record: IssueRecord, occurrence: Occurrence): Promise<ReportOutcome> {
    const now = this.#clock.now();
    const certainAt = (record.creating_since ?? 0) + RECONCILE_WITHIN_MS;
    if (now < certainAt) {
      const error = 'Whether the issue was created is not known; it is looked for until that is certain';
      return { state: 'ambiguous', url: null, retry_at: Math.min(now + RETRY_MS.ambiguous, certainAt), error };
    }
    const isFree = () => this.#isFree(record.rule);
    if (!(await isFree())) {
      const rollUp = await this.#ledger.rollUp(record.rule, occurrence.incident_id);
      return this.#place(rollUp, occurrence);
    }
    const issue = await this.#writer.create(record, occurrence, isFree);
    if (issue === null) {
      const error = 'Another watchdog is filing an issue for this project';
      return { state: 'pending', url: null, retry_at: now + RETRY_BUSY_MS, error };
    }
    this.#log(occurrence, issue, 'is filed for it');
    const older = await this.#ledger.olderTwin(issue, record.fingerprint);
    const stored = await this.#ledger.of(record.rule);
    if (older === null) return finished(stateIn(stored, occurrence), issue.url);
    const state = record.rule === SEVERAL_FAULTS ? 'capped' : 'joined';
    return this.#join(record.rule, older, state, occurrence);
  }

  /** @returns whether the project had no new issue within the hour; the roll-up issue may be created at any time */
  async #isFree(topic: IssueTopic): Promise<boolean> {
    if (topic === SEVERAL_FAULTS) return true;
    return this.#clock.now() >= (await this.#ledger.lastNewBeside(topic)) + NEW_ISSUE_EVERY_MS;
  }

  #log({ incident_id, session_id, project_key, rule }: Occurrence, issue: IssueSummary, what: string): void {
    const fields = { incident_id, session_id, project_key, rule, issue: issue.number, url: issue.url };
    this.#logger.info(fields, `incident ${incident_id} of session ${session_id}: issue ${issue.number} ${what}`);
  }
}

function stateIn(record: IssueRecord, { incident_id }: Occurrence): ReportState {
  if (record.rule === SEVERAL_FAULTS) return 'capped';
  return occurrenceIn(record, incident_id)?.filed ? 'filed' : 'joined';
}

function finished(state: ReportState, url: string): ReportOutcome {
  return { state, url, retry_at: null, error: null };
}

/** @param occurredAt when the occurrence began: a day later the report is given up; both UTC epoch milliseconds */
function unfinished(record: IssueRecord, error: SinkError, occurredAt: number, now: number): ReportOutcome {
  const refused = error.kind === 'refused' ? ({ refused: true } as const) : {};
  const outcome = { url: record.issue?.url ?? null, error: describeError(error), ...refused };
  if (now - occurredAt > GIVE_UP_AFTER_MS) return { ...outcome, state: 'given_up', retry_at: null };
  const state = record.creating_since === null ? 'pending' : 'ambiguous';
  return { ...outcome, state, retry_at: now + retryAfter(error) };
}

/** @returns milliseconds */
function retryAfter({ kind, retryAfterMs }: SinkError): number {
  return kind === 'limited' ? Math.min(Math.max(retryAfterMs ?? MINUTE, SECOND), HOUR) : RETRY_MS[kind];
}
