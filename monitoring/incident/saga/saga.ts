/**
 * An incident, step by step. Each step is stored before the next one begins, and each effect outside Redis may be repeated
 * without harm, so that a crash anywhere resumes without doing anything twice.
 *
 * opened ──▶ detected ──▶ stopping ──▶ released ──┬──▶ revived ──▶ closed
 * (event on    (the owner   (the run   │    (a first failure)
 * disk)        is asked)    is proven └──▶ told ─────▶ closed
 * dead)          (a second one, or a cause that is not revived)
 *
 * The report runs beside the steps; the revival and the failure message wait for its URL for a bounded time. A stored answer,
 * or a person's cancellation, ends the incident unclaimed at any step. While all its rules only report, it stays at `detected`.
 *
 * The end has two parts: the outcome is decided by a commit, then the closing line is written, the outcome noted on the issue
 * (outcomeNote.ts), and the incident closed. So no line announces an end that a faster change had prevented.
 */
import { FencedError } from '../../../src/errors.js';
import type { Finding } from '../../../src/jobs/findings.js';
import type { Incident } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { SECOND } from '../../../src/time.js';
import { type Admission, OutageGate } from '../outage/gate.js';
import { OutageParts } from '../outage/outageParts.js';
import { OutageSteps } from '../outage/outageSteps.js';
import { decide, logStep, type Progress, type SagaContext } from '../sagaContext.js';
import { eventNameOf } from '../texts/incidentEvents.js';
import { followMessage, followRevival } from './afterFork.js';
import { closeIncident } from './closing.js';
import { DueReports, hasReportEnded } from './dueReports.js';
import { isSpared } from './putBack.js';
import { RunEnding } from './runEnding.js';
import { Turns } from './turns.js';

/** Steps that one call may take: a guard against a cycle, not a limit that is ever met. */
const MOST_STEPS = 20;
const RETRY_MS = 5 * SECOND;

export class IncidentSaga {
  private readonly context: SagaContext;
  private readonly turns = new Turns<number | null>();
  private readonly reporting: DueReports;
  private readonly gate: OutageGate;
  private readonly ending: RunEnding;
  private readonly parts: OutageParts;
  private readonly outage: OutageSteps;

  constructor(context: SagaContext) {
    this.context = context;
    this.gate = new OutageGate(context);
    this.ending = new RunEnding(context, this.gate);
    this.parts = new OutageParts(context);
    this.outage = new OutageSteps(context, this.parts);
    this.reporting = new DueReports(context, (incidentId) => this.afterReport(incidentId));
  }

  /**
   * Takes the incident as far as possible now. Calls for one incident run one after the other; those that wait share a turn.
   * @returns when to look again, in epoch milliseconds; null if only a wake can move it, or it is closed
   * @throws FencedError if another watchdog acts now
   */
  advance(incidentId: string): Promise<number | null> {
    return this.turns.take(incidentId, () => this.drive(incidentId));
  }

  /** As {@link isSpared}, for a session without an incident. */
  spares(session: AgentSession, findings: readonly Finding[]): Promise<boolean> {
    return isSpared(this.context, session, findings);
  }

  /** No rule is true any more: an incident that only reports ends once its report has ended. */
  async closeHealthy(incidentId: string): Promise<void> {
    const incident = await this.context.store.records.incident(incidentId);
    if (incident === null || incident.acting || incident.step !== 'detected' || !hasReportEnded(incident)) return;
    if (!this.context.folders.actsFor(incident.logs_id)) return;
    await decide(this.context, incident, 'recovered');
    await this.advance(incidentId);
  }

  /** Forgets incidents that are closed. */
  forgetAllBut(incidentIds: ReadonlySet<string>): void {
    this.gate.forgetAllBut(incidentIds);
  }

  /** Resolves when nothing is in progress any more. */
  async settle(): Promise<void> {
    for (let work = this.pending(); work.length > 0; work = this.pending()) await Promise.allSettled(work);
  }

  private pending(): Promise<unknown>[] {
    return [...this.turns.pending, ...this.reporting.pending];
  }

  /** A single look has no agenda, so the incident is driven on from here. */
  private async afterReport(incidentId: string): Promise<void> {
    const { agenda, clock, logger } = this.context;
    try {
      const instant = await this.advance(incidentId);
      if (instant !== null) agenda.driveAt(incidentId, instant);
    } catch (error) {
      if (error instanceof FencedError) return;
      logger.warn({ err: error, incident_id: incidentId }, `incident ${incidentId} waits and is looked at again`);
      agenda.driveAt(incidentId, clock.now() + RETRY_MS);
    }
  }

  private async drive(incidentId: string): Promise<number | null> {
    const { records } = this.context.store;
    for (let steps = 0; steps < MOST_STEPS; steps += 1) {
      const incident = await records.incident(incidentId);
      if (incident === null || incident.step === 'closed' || !this.context.folders.actsFor(incident.logs_id))
        return null;
      // Before any write or message outside Redis, because no commit would stop a replaced watchdog there.
      await this.context.store.leases.require(this.context.folders.guard());
      const session = await records.session(incident.session_id);
      const admission = await this.gate.admit(incident);
      if (admission.kind === 'changed') continue;
      // A project's issue about an outage covers all of its sessions that the outage holds.
      const isReported = incident.step !== 'opened' && incident.hold === undefined && admission.kind === 'pass';
      if (isReported) this.reporting.keep(incident, session);
      const progress = await this.takeStep(incident, session, admission);
      if (progress === 'look') continue;
      const passes = admission.kind === 'wait' ? admission.until : null;
      return earliest(earliest(progress.waitUntil, passes), isReported ? this.reporting.dueAt(incident) : null);
    }
    this.context.logger.error(
      { incident_id: incidentId },
      `incident ${incidentId} does not come to rest; looked at again at the next tick`,
    );
    return null;
  }

  private async takeStep(incident: Incident, session: AgentSession | null, admission: Admission): Promise<Progress> {
    if (incident.subject?.kind === 'provider' && incident.step !== 'opened') {
      const progress = await this.outage.advance(incident);
      if (incident.outcome === null) return progress;
    }
    if (incident.subject?.kind === 'provider_in_project' && incident.step !== 'opened') {
      const progress = await this.parts.advance(incident, incident.subject.outage);
      if (incident.outcome === null) return progress;
    }
    if (incident.outcome !== null) return closeIncident(this.context, incident, session, incident.outcome);
    // There is no run to end: the code that opened it closes it.
    if (incident.subject !== undefined && incident.step !== 'opened') return { waitUntil: null };
    switch (incident.step) {
      case 'opened':
        return this.detect(incident, session);
      case 'detected':
      case 'stopping':
      case 'released':
        return this.ending.advance(incident, session, admission);
      case 'revived':
        return followRevival(this.context, incident, session);
      case 'told':
        return followMessage(this.context, incident, session);
      case 'closed':
        return { waitUntil: null };
      default:
        return incident.step satisfies never;
    }
  }

  private async detect(incident: Incident, session: AgentSession | null): Promise<Progress> {
    const event = eventNameOf(incident);
    await logStep(this.context, incident, session, { step: 'detected', event, action: 'detected' });
    await this.context.store.incidents.save(
      incident,
      { step: 'detected', detected_at: this.context.clock.now() },
      this.context.folders.guard(),
    );
    return 'look';
  }
}

function earliest(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
}
