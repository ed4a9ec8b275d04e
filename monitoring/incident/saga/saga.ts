/**
 * An incident, step by step. Each step is stored before the next one begins, and each effect outside Redis may be repeated
 * without harm, so that a crash anywhere resumes without doing anything twice.
 *
 * ```text
 * opened ──▶ detected ──▶ stopping ──▶ released ──┬──▶ revived ──▶ closed
 *            (event on    (the owner   (the run   │    (a first failure)
 *             disk)        is asked)    is proven └──▶ told ─────▶ closed
 *                                       dead)          (a second one, or a cause that is not revived)
 * ```
 *
 * The report runs parallel to the steps; the revival and the failure message wait for its URL for a bounded time. A stored answer,
 * or a person's cancellation, ends the incident unclaimed at any step. While all its rules only report, it stays at `detected`,
 * and the run's own bridge stores its outcome together with the end of the run (`src/jobs/runEnds.ts`).
 *
 * The end has two parts: the outcome is decided by a commit, then the closing line is written, the outcome noted on the issue
 * (afterFork.ts), and the incident closed. So no line announces an end that a faster change had prevented.
 */
import { describeError, FencedError, WatchkeeperError } from '../../../src/errors.js';
import type { Incident } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { SaidOnce } from '../../../src/log/saidOnce.js';
import { SECOND } from '../../../src/time.js';
import type { WatchedRecord } from '../../actors/watchedRecord.js';
import { type Evidence, joiningFindings, newIncident } from '../newIncident.js';
import { type Admission, OutageGate } from '../outage/gate.js';
import { advancePart } from '../outage/outageIncidents.js';
import { OutageSteps } from '../outage/outageSteps.js';
import { decide, logStep, type Progress, type SagaContext, save, saveAndLook } from '../sagaContext.js';
import { eventNameOf, logAccusation } from '../texts/incidentEvents.js';
import { closeIncident, followMessage, followRevival } from './afterFork.js';
import { DueReports, hasReportEnded } from './dueReports.js';
import { isSpared, RunEnding } from './runEnding.js';
import { Turns } from './turns.js';

/** Steps that one call may take: a guard against a cycle, not a limit that is ever met. */
const MOST_STEPS = 20;
const RETRY_MS = 5 * SECOND;

export class IncidentSaga {
  readonly #context: SagaContext;
  readonly #turns = new Turns<number | null>();
  readonly #troubles: SaidOnce;
  readonly #reporting: DueReports;
  readonly #gate: OutageGate;
  readonly #ending: RunEnding;
  readonly #outage: OutageSteps;

  constructor(context: SagaContext) {
    this.#context = context;
    this.#troubles = new SaidOnce(context.logger);
    this.#gate = new OutageGate(context);
    this.#ending = new RunEnding(context, this.#gate);
    this.#outage = new OutageSteps(context);
    this.#reporting = new DueReports(context, (incidentId) => this.drive(incidentId));
  }

  /** Waiting calls share a turn. @returns when to look again; null if only a wake can move it @throws FencedError */
  advance(incidentId: string): Promise<number | null> {
    return this.#turns.take(incidentId, () => this.#takeSteps(incidentId));
  }

  /** As {@link advance}, in the background, because reporting may be slow; the agenda then says when it continues. */
  drive(incidentId: string): void {
    const { clock, agenda } = this.#context;
    this.advance(incidentId).then(
      (instant) => {
        this.#troubles.forget(incidentId);
        if (instant !== null) agenda.driveAt(incidentId, instant);
      },
      (error: unknown) => {
        if (error instanceof FencedError) return;
        const said = `incident ${incidentId} waits: ${describeError(error)}`;
        this.#troubles.error(incidentId, said, { err: error, incident_id: incidentId });
        const isHopeless = error instanceof WatchkeeperError && !error.retryable;
        // A tick drives it all the same: people may have repaired the record.
        if (!isHopeless) agenda.driveAt(incidentId, clock.now() + RETRY_MS);
      },
    );
  }

  /** At most one incident is open per session. @returns false if a record has changed, or is about to: look again */
  async accuse(session: WatchedRecord, evidence: Evidence): Promise<boolean> {
    const { incident_id: incidentId } = session;
    return incidentId === null ? this.#open(session, evidence) : this.#join(session, incidentId, evidence);
  }

  /** No rule is true any more: an incident that only reports ends with its report, one whose run is being ended with that. */
  async closeHealthy(incidentId: string): Promise<void> {
    const incident = await this.#context.store.records.incident(incidentId);
    if (incident === null || incident.acting || incident.step !== 'detected' || !hasReportEnded(incident)) return;
    if (!this.#context.folders.actsFor(incident.logs_id)) return;
    if (incident.subject === undefined && (await this.#isRunEnding(incident.session_id))) return;
    await decide(this.#context, incident, 'recovered');
    await this.advance(incidentId);
  }

  forgetAllBut(incidentIds: ReadonlySet<string>): void {
    this.#troubles.forgetAllBut(incidentIds);
    this.#gate.forgetAllBut(incidentIds);
    this.#context.refusedTries.forgetAllBut(incidentIds);
  }

  /** A person may have mended the cause of refused reports: each is tried again in the next round, however long its pause is. */
  tryRefusedAgain(): void {
    this.#context.refusedTries.forget();
  }

  /** Resolves when nothing is in progress any more. */
  async settle(): Promise<void> {
    const pending = () => [...this.#turns.pending, ...this.#reporting.pending];
    for (let work: Promise<unknown>[] = pending(); work.length > 0; work = pending()) await Promise.allSettled(work);
  }

  async #open(watched: WatchedRecord, evidence: Evidence): Promise<boolean> {
    const { store, clock, logger, folders } = this.#context;
    const session = await this.#unchanged(watched);
    if (session === null || (await isSpared(this.#context, session, evidence))) return false;
    const step = await this.#context.stepOf(session.session_id);
    const incident = newIncident(clock, { session, step, ...evidence });
    if (!(await store.incidents.open(session, incident, folders.guard()))) return false;
    logAccusation(logger, incident, evidence.findings);
    this.drive(incident.incident_id);
    return true;
  }

  async #join(watched: WatchedRecord, incidentId: string, evidence: Evidence): Promise<boolean> {
    const incident = await this.#context.store.records.incident(incidentId);
    const joining = incident === null ? null : joiningFindings(incident, evidence.findings, evidence.actions);
    if (incident === null || joining === null) return true;
    if (!incident.acting && joining.acting === true) {
      const session = await this.#unchanged(watched);
      if (session === null || (await isSpared(this.#context, session, evidence))) return false;
    }
    if ((await save(this.#context, incident, joining)) === null) return false;
    logAccusation(this.#context.logger, incident, joining.findings.slice(incident.findings.length));
    this.drive(incidentId);
    return true;
  }

  async #unchanged({ session_id, rev }: WatchedRecord): Promise<AgentSession | null> {
    const session = await this.#context.store.records.session(session_id);
    return session?.rev === rev ? session : null;
  }

  async #isRunEnding(sessionId: string): Promise<boolean> {
    const { store, wasStopping } = this.#context;
    const session = await store.records.session(sessionId);
    if (session?.status !== 'active') return false;
    return session.stop !== null || session.released !== null || (await wasStopping(session));
  }

  async #takeSteps(incidentId: string): Promise<number | null> {
    const { records } = this.#context.store;
    for (let steps = 0; steps < MOST_STEPS; steps += 1) {
      const incident = await records.incident(incidentId);
      if (incident === null || incident.step === 'closed' || !this.#context.folders.actsFor(incident.logs_id))
        return null;
      // Before any write or message outside Redis, because no commit would stop a replaced watchdog there.
      await this.#context.store.leases.require(this.#context.folders.guard());
      const session = await records.session(incident.session_id);
      const admission = await this.#gate.admit(incident);
      if (admission.kind === 'changed') continue;
      // A project's issue about an outage covers all of its sessions that the outage holds.
      const isReported = incident.step !== 'opened' && incident.hold === undefined && admission.kind === 'pass';
      if (isReported) this.#reporting.keep(incident, session);
      const progress = await this.#takeStep(incident, session, admission);
      if (progress === 'look') continue;
      const passes = admission.kind === 'wait' ? admission.until : null;
      return earliest(earliest(progress.waitUntil, passes), isReported ? this.#reporting.dueAt(incident) : null);
    }
    this.#context.logger.error(
      { incident_id: incidentId },
      `incident ${incidentId} keeps changing; it is checked again in the next round`,
    );
    return null;
  }

  async #takeStep(incident: Incident, session: AgentSession | null, admission: Admission): Promise<Progress> {
    // Also if its outcome is known by now: every incident has the line of its detection.
    if (incident.step === 'opened') return this.#detect(incident, session);
    if (incident.subject?.kind === 'provider') {
      const progress = await this.#outage.advance(incident);
      if (incident.outcome === null) return progress;
    }
    if (incident.subject?.kind === 'provider_in_project') {
      const progress = await advancePart(this.#context, incident, incident.subject.outage);
      if (incident.outcome === null) return progress;
    }
    if (incident.outcome !== null) return closeIncident(this.#context, incident, session, incident.outcome);
    // There is no run to end: the code that opened it closes it.
    if (incident.subject !== undefined) return { waitUntil: null };
    switch (incident.step) {
      case 'detected':
      case 'stopping':
      case 'released':
        return this.#ending.advance(incident, session, admission);
      case 'revived':
        return followRevival(this.#context, incident, session);
      case 'told':
        return followMessage(this.#context, incident, session);
      case 'closed':
        return { waitUntil: null };
      default:
        return incident.step satisfies never;
    }
  }

  async #detect(incident: Incident, session: AgentSession | null): Promise<Progress> {
    const event = eventNameOf(incident);
    await logStep(this.#context, incident, session, { step: 'detected', event, action: 'detected' });
    return saveAndLook(this.#context, incident, { step: 'detected', detected_at: this.#context.clock.now() });
  }
}

function earliest(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
}
