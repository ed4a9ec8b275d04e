/**
 * An incident, step by step. Each step is stored before the next one begins, and each effect outside Redis may be repeated
 * without harm, so that a crash anywhere resumes without doing anything twice.
 *
 *   opened ──▶ detected ──▶ stopping ──▶ released ──┬──▶ revived ──▶ closed
 *              (event on    (the owner   (the run   │    (a first failure)
 *               disk)        is asked)    is proven └──▶ told ─────▶ closed
 *                                         dead)          (a second one, or a cause that is not revived)
 *
 * The report runs beside the steps; reviving and telling wait for its URL for a bounded time. A stored answer, or a
 * person's cancellation, ends the incident unclaimed at any step. While all its rules only report, it stays at `detected`.
 *
 * The end has two parts: the outcome is decided by a commit, then the closing line is written, the outcome noted on the
 * issue (outcomeNote.ts), and the incident closed. So no line tells an end that a faster change had prevented.
 */
import { FencedError } from '../../../src/errors.js';
import type { Finding } from '../../../src/jobs/findings.js';
import type { CriticalEventName, Incident, IncidentOutcome } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { SECOND } from '../../../src/time.js';
import { type Admission, OutageGate } from '../outage/gate.js';
import { OutageParts } from '../outage/outageParts.js';
import { OutageSteps } from '../outage/outageSteps.js';
import { decide, logStep, type Progress, type SagaContext, writeEvent } from '../sagaContext.js';
import { CANCELLED_TEXT, failureText } from '../texts/chatTexts.js';
import { eventNameOf, incidentEvent, leadingReason } from '../texts/incidentEvents.js';
import { logClosing } from '../texts/incidentLog.js';
import { followMessage, followRevival } from './afterFork.js';
import { IncidentReporting } from './incidentReporting.js';
import { noteOutcome } from './outcomeNote.js';
import { isPutBack, isSpared } from './putBack.js';
import { attemptRevival, isAnsweredBySecond } from './revive.js';
import { Turns } from './turns.js';

/** Steps that one call may take: a guard against a circle, not a limit that is ever met. */
const MOST_STEPS = 20;
const RETRY_MS = 5 * SECOND;
const PROVIDER_DOWN = 'the provider of its model was down, and several messages that I tried meanwhile got no answer';

export class IncidentSaga {
  private readonly context: SagaContext;
  private readonly turns = new Turns<number | null>();
  private readonly reporting: IncidentReporting;
  private readonly gate: OutageGate;
  private readonly parts: OutageParts;
  private readonly outage: OutageSteps;

  constructor(context: SagaContext) {
    this.context = context;
    this.gate = new OutageGate(context);
    this.parts = new OutageParts(context);
    this.outage = new OutageSteps(context, this.parts);
    this.reporting = new IncidentReporting(context, (incidentId) => this.afterReport(incidentId));
  }

  /**
   * Takes the incident as far as it gets now. Calls for one incident run one after the other; those that wait share a turn.
   * @returns when to look again, in epoch milliseconds; null where only a wake can move it, or it is closed
   * @throws FencedError where another watchdog acts now
   */
  advance(incidentId: string): Promise<number | null> {
    return this.turns.take(incidentId, () => this.drive(incidentId));
  }

  /** As {@link isSpared} tells of a session without an incident. */
  spares(session: AgentSession, findings: readonly Finding[]): Promise<boolean> {
    return isSpared(this.context, session, findings);
  }

  /** No rule is true any more: an incident that only reports is over, once its report has ended. */
  async closeHealthy(incidentId: string): Promise<void> {
    const incident = await this.context.store.records.incident(incidentId);
    if (incident === null || incident.acting || incident.step !== 'detected' || !hasReportEnded(incident)) return;
    if (!this.context.actsFor(incident.logs_id)) return;
    await decide(this.context, incident, 'recovered');
    await this.advance(incidentId);
  }

  /** Forgets what is known of incidents that are closed. */
  forgetAllBut(incidentIds: ReadonlySet<string>): void {
    this.gate.forgetAllBut(incidentIds);
  }

  /** Resolves when nothing is under way any more. */
  async settle(): Promise<void> {
    for (let work = this.pending(); work.length > 0; work = this.pending()) await Promise.allSettled(work);
  }

  private pending(): Promise<unknown>[] {
    return [...this.turns.pending, ...this.reporting.pending];
  }

  /** In one look there is no agenda, so the incident is driven on from here. */
  private async afterReport(incidentId: string): Promise<void> {
    const { lookAgainAt, clock, logger } = this.context;
    try {
      const instant = await this.advance(incidentId);
      if (instant !== null) lookAgainAt(incidentId, instant);
    } catch (error) {
      if (error instanceof FencedError) return;
      logger.warn({ err: error, incident_id: incidentId }, `incident ${incidentId} waits and is looked at again`);
      lookAgainAt(incidentId, clock.now() + RETRY_MS);
    }
  }

  private async drive(incidentId: string): Promise<number | null> {
    const { records, incidents } = this.context.store;
    for (let steps = 0; steps < MOST_STEPS; steps += 1) {
      const incident = await records.incident(incidentId);
      if (incident === null || incident.step === 'closed' || !this.context.actsFor(incident.logs_id)) return null;
      // Before anything is written or said outside of Redis, where no commit would stop a watchdog that was replaced.
      await incidents.requireGuard(this.context.guard());
      const session = await records.session(incident.session_id);
      const admission = await this.gate.admit(incident);
      if (admission.kind === 'changed') continue;
      // The issue that a project has of an outage stands for all of its sessions that the outage holds.
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
    if (incident.outcome !== null) return this.finish(incident, session, incident.outcome);
    // Nobody's run is to be ended: whoever opened it closes it.
    if (incident.subject !== undefined && incident.step !== 'opened') return { waitUntil: null };
    switch (incident.step) {
      case 'opened':
        return this.detect(incident, session);
      case 'detected':
      case 'stopping':
      case 'released':
        return this.endRun(incident, session, admission);
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
    await logStep(this.context, incident, session, 'detected', eventNameOf(incident), 'detected');
    await this.context.store.incidents.save(
      incident,
      { step: 'detected', detected_at: this.context.clock.now() },
      this.context.guard(),
    );
    return 'look';
  }

  /** From `detected` to the fork: the same questions stand before every step. */
  private async endRun(incident: Incident, session: AgentSession | null, admission: Admission): Promise<Progress> {
    const { incidents } = this.context.store;
    if (session === null) return decide(this.context, incident, 'session_gone');
    if (session.status === 'completed') return decide(this.context, incident, 'answered');
    if (session.status === 'cancelled') return decide(this.context, incident, 'cancelled_by_person');
    if (session.status !== 'active') return decide(this.context, incident, `session_${session.status}`);
    if (session.stop?.cause === 'cancel' && session.released !== null) {
      await incidents.cancel(session, incident, CANCELLED_TEXT, this.context.guard());
      return 'look';
    }
    if (!incident.acting) return { waitUntil: null };
    if (session.run === null && incident.step !== 'released') {
      // Nothing ever ran for it, so nothing can be left of it.
      await incidents.save(incident, { step: 'released' }, this.context.guard());
      return 'look';
    }
    if (incident.step === 'detected') {
      await incidents.requestStop(session, incident, this.context.guard());
      return 'look';
    }
    if (incident.step === 'stopping') return this.awaitRelease(incident, session);
    if (await this.hasEnded(incident, session)) return 'look';
    if (session.released !== null && (await isPutBack(this.context, incident, session))) return 'look';
    if (admission.kind === 'wait') return { waitUntil: null };
    return this.fork(incident, session);
  }

  /** This host knows of an end that the store has forgotten: nothing is run again, and nobody told of a failure. */
  private async hasEnded(incident: Incident, session: AgentSession): Promise<boolean> {
    const { store, guard, endOnDisk } = this.context;
    const end = await endOnDisk(session);
    if (end === null) return false;
    await store.incidents.endForgotten(session, incident, end, guard());
    return true;
  }

  private async awaitRelease(incident: Incident, session: AgentSession): Promise<Progress> {
    const { store, gaps, timings, guard } = this.context;
    const proof = session.released ?? (await this.context.proveDead(session));
    if (proof !== null) {
      if (session.released === null && (await store.transitions.release(session.session_id, proof)) === null)
        return 'look';
      await store.incidents.save(incident, { step: 'released' }, guard());
      return 'look';
    }
    const now = gaps.now();
    const askedAt = Math.max(incident.stopping_at ?? now, gaps.lastEnd(session.run));
    const givenUpAt = askedAt + timings.proofMs;
    if (now < givenUpAt) return { waitUntil: givenUpAt };
    if (await this.hasEnded(incident, session)) return 'look';
    const because =
      "it could not be proven that the first attempt has really ended, and two at once would get in each other's way";
    return this.tell({ ...incident, not_revived_because: incident.not_revived_because ?? because }, session);
  }

  private async fork(incident: Incident, session: AgentSession): Promise<Progress> {
    const { clock, timings } = this.context;
    const detectedAt = incident.detected_at ?? clock.now();
    const passedAt = this.gate.passedAt(incident) ?? detectedAt;
    // The few seconds before the report begins are part of the wait for its link; a minute is not.
    const urlDue = (passedAt - detectedAt < timings.reportWaitMs ? detectedAt : passedAt) + timings.reportWaitMs;
    if (incident.report.url === null && !hasReportEnded(incident) && clock.now() < urlDue) return { waitUntil: urlDue };
    if (await isAnsweredBySecond(this.context, incident, session)) return this.revive(incident, session);
    if (incident.hold?.state === 'give_up' && incident.attempt === 1) {
      return this.tell({ ...incident, not_revived_because: incident.not_revived_because ?? PROVIDER_DOWN }, session);
    }
    if (incident.attempt === 2) return this.tell(incident, session);
    const because = incident.not_revived_because ?? this.context.keptBack(session);
    if (because !== null) return this.tell({ ...incident, not_revived_because: because }, session);
    return this.revive(incident, session);
  }

  private async revive(incident: Incident, session: AgentSession): Promise<Progress> {
    const outcome = await attemptRevival(this.context.store, incident, session, this.context.guard());
    if (outcome === 'claimed_before') {
      return this.tell({ ...incident, not_revived_because: 'the one second attempt was used before' }, session);
    }
    return 'look';
  }

  private async tell(incident: Incident, session: AgentSession): Promise<Progress> {
    const text = failureText(incident);
    const patch = { not_revived_because: incident.not_revived_because };
    const endReason = leadingReason(incident);
    await this.context.store.incidents.failAndTell(session, incident, endReason, text, patch, this.context.guard());
    return 'look';
  }

  /** Waits for the report's end. The effects come before the commit: repeated they do no harm, forgotten they are lost. */
  private async finish(incident: Incident, session: AgentSession | null, outcome: IncidentOutcome): Promise<Progress> {
    const { store, clock, lookAgainAt, guard } = this.context;
    // What became of this one decides what becomes of the others.
    if (incident.hold !== undefined) lookAgainAt(incident.hold.incident_id, clock.now());
    if (!hasReportEnded(incident)) return { waitUntil: null };
    const { note: owed } = incident;
    if (owed !== undefined && owed.due_at > clock.now()) return { waitUntil: owed.due_at };
    if (owed === undefined) await this.logEnd(incident, session, outcome);
    const note = await noteOutcome(this.context, incident);
    if (note !== null) {
      const freed = await store.incidents.free(session, incident, { note }, guard());
      return freed === null ? 'look' : { waitUntil: note.due_at };
    }
    const closed = await store.incidents.close(session, incident, outcome, guard());
    if (closed !== null) logClosing(this.context.logger, closed);
    return 'look';
  }

  private async logEnd(incident: Incident, session: AgentSession | null, outcome: IncidentOutcome): Promise<void> {
    // Nothing was done but to detect it, and exactly one line of an incident says that.
    const last_action = incident.last_action === 'detected' ? 'suppressed' : incident.last_action;
    const closing = { ...incident, last_action };
    const now = this.context.clock.now();
    await writeEvent(
      this.context,
      incidentEvent(closing, session, 'closed', closingEvent(incident, outcome), now, outcome),
    );
  }
}

/** @returns the event that the closing line tells */
function closingEvent(incident: Incident, outcome: IncidentOutcome): CriticalEventName {
  if (incident.subject !== undefined) return eventNameOf(incident);
  if (outcome === 'recovered') return 'session_recovered';
  return outcome === 'told' ? 'session_unrecoverable' : 'session_unhealthy';
}

function hasReportEnded({ report }: Incident): boolean {
  return report.due_at === null;
}

function earliest(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
}
