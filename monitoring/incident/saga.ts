/**
 * An incident, step by step. Each step is stored before the next one begins, and each effect outside Redis may be repeated
 * without harm, so that a crash anywhere resumes without doing anything twice.
 *
 *   opened ──▶ detected ──▶ stopping ──▶ released ──┬──▶ revived ──▶ closed
 *              (event on    (the owner   (the run   │    (a first failure)
 *               disk)        is asked)    is proven └──▶ told ─────▶ closed
 *                                         dead)          (a second one, or a cause that is not revived)
 *
 * The report runs beside the steps; reviving and telling wait for its URL for a bounded time. A stored answer closes the
 * incident unclaimed. While all its rules only report, an incident stays at `detected`.
 */
import { describeError } from '../../src/errors.js';
import type { Logger } from '../../src/logger.js';
import type {
  AgentSession,
  CriticalEvent,
  CriticalEventName,
  DeathProof,
  Incident,
  IncidentReport,
  Run,
} from '../../src/model.js';
import type { Chat, WorkQueue } from '../../src/ports.js';
import type { Guard } from '../../src/store/incidentTransitions.js';
import type { Store } from '../../src/store/store.js';
import type { Clock } from '../../src/time.js';
import { CANCELLED_TEXT, failureText, progressText } from './chatTexts.js';
import { incidentEvent, leadingReason } from './incidentEvents.js';
import { attemptRevival } from './revive.js';

export interface SagaTimings {
  readonly reportWaitMs: number;
  readonly proofMs: number;
}

/** What the saga needs of the world; each the smallest that does. */
export interface SagaContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timings: SagaTimings;
  readonly queue: WorkQueue;
  readonly chat: Chat;
  readonly events: { logCriticalEvent(event: CriticalEvent): Promise<void> };
  readonly reporter: Reporter;
  /** @returns the check that fences the commits of this watchdog; throws FencedError where it is not the acting one */
  guard(): Guard;
  /** @returns the proof that no process of the run is left, where this process can see that by itself */
  proveDead(run: Run): DeathProof | null;
  /** @returns whether a revival has done real work: a successful call of its own */
  hasWorked(sessionId: string): Promise<boolean>;
}

export interface Reporter {
  /** Files or joins the issue. Idempotent per incident; never throws for what a sink answers. */
  report(incident: Incident, session: AgentSession | null): Promise<IncidentReport>;
  /** Notes on the issue how the incident ended. */
  noteOutcome(incident: Incident): Promise<void>;
}

/** How far a step got: `look` again at once, or wait until an instant (epoch ms; null: until somebody wakes it). */
type Progress = 'look' | { readonly waitUntil: number | null };

/** Steps that one call may take: a guard against a circle, not a limit that is ever met. */
const MOST_STEPS = 20;

export class IncidentSaga {
  private readonly context: SagaContext;
  private readonly driving = new Map<string, Promise<number | null>>();
  private readonly reporting = new Map<string, Promise<void>>();

  constructor(context: SagaContext) {
    this.context = context;
  }

  /**
   * Takes the incident as far as it gets now. Calls for one incident run one after the other.
   * @returns when to look again, in epoch milliseconds; null where only a wake can move it, or it is closed
   * @throws FencedError where another watchdog acts now
   */
  advance(incidentId: string): Promise<number | null> {
    const before = this.driving.get(incidentId) ?? Promise.resolve(null);
    const next = before.catch(() => null).then(() => this.drive(incidentId));
    this.driving.set(incidentId, next);
    const forget = () => {
      if (this.driving.get(incidentId) === next) this.driving.delete(incidentId);
    };
    next.then(forget, forget);
    return next;
  }

  /** No rule is true any more: an incident that only reports closes, once its report has ended. */
  async closeHealthy(incidentId: string): Promise<void> {
    const { records } = this.context.store;
    const incident = await records.incident(incidentId);
    if (incident === null || incident.acting || incident.step !== 'detected') return;
    await this.close(incident, await records.session(incident.session_id), 'recovered', 'session_recovered');
  }

  /** Resolves when no report is under way any more. */
  async settle(): Promise<void> {
    while (this.reporting.size > 0 || this.driving.size > 0) {
      await Promise.allSettled([...this.reporting.values(), ...this.driving.values()]);
    }
  }

  private async drive(incidentId: string): Promise<number | null> {
    for (let steps = 0; steps < MOST_STEPS; steps += 1) {
      const incident = await this.context.store.records.incident(incidentId);
      if (incident === null || incident.step === 'closed') return null;
      const session = await this.context.store.records.session(incident.session_id);
      if (incident.step !== 'opened') this.keepReporting(incident, session);
      const progress = await this.takeStep(incident, session);
      if (progress !== 'look') return earliest(progress.waitUntil, incident.report.due_at);
    }
    this.context.logger.error(
      { incident_id: incidentId },
      `incident ${incidentId} does not come to rest; looked at again at the next tick`,
    );
    return null;
  }

  private async takeStep(incident: Incident, session: AgentSession | null): Promise<Progress> {
    switch (incident.step) {
      case 'opened':
        return this.detect(incident, session);
      case 'detected':
      case 'stopping':
      case 'released':
        return this.endRun(incident, session);
      case 'revived':
        return this.followRevival(incident, session);
      case 'told':
        return this.followMessage(incident, session);
      case 'closed':
        return { waitUntil: null };
      default:
        return incident.step satisfies never;
    }
  }

  private async detect(incident: Incident, session: AgentSession | null): Promise<Progress> {
    await this.log(incident, session, 'detected', 'session_unhealthy');
    await this.context.store.incidents.save(
      incident,
      { step: 'detected', detected_at: this.context.clock.now() },
      this.context.guard(),
    );
    return 'look';
  }

  /** From `detected` to the fork: the same questions stand before every step. */
  private async endRun(incident: Incident, session: AgentSession | null): Promise<Progress> {
    const { incidents } = this.context.store;
    if (session === null) return this.close(incident, null, 'session_gone');
    if (session.status === 'completed') return this.close(incident, session, 'answered');
    if (session.status !== 'active') return this.close(incident, session, `session_${session.status}`);
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
    if (session.stop?.cause === 'cancel') return this.cancel(incident, session);
    return this.fork(incident, session);
  }

  private async awaitRelease(incident: Incident, session: AgentSession): Promise<Progress> {
    const { store, clock, timings, guard } = this.context;
    const proof = session.released ?? (session.run === null ? null : this.context.proveDead(session.run));
    if (proof !== null) {
      if (session.released === null && (await store.transitions.release(session.session_id, proof)) === null)
        return 'look';
      await store.incidents.save(incident, { step: 'released' }, guard());
      return 'look';
    }
    const givenUpAt = (incident.stopping_at ?? clock.now()) + timings.proofMs;
    if (clock.now() < givenUpAt) return { waitUntil: givenUpAt };
    const because = 'the end of its run could not be proven, so a second run might have met the first one';
    return this.tell({ ...incident, not_revived_because: incident.not_revived_because ?? because }, session);
  }

  private async fork(incident: Incident, session: AgentSession): Promise<Progress> {
    const { clock, timings } = this.context;
    const urlDue = (incident.detected_at ?? clock.now()) + timings.reportWaitMs;
    if (incident.report.url === null && !hasReportEnded(incident) && clock.now() < urlDue) return { waitUntil: urlDue };
    const isRevivable = incident.attempt === 1 && incident.not_revived_because === null;
    if (!isRevivable) return this.tell(incident, session);
    const outcome = await attemptRevival(this.context.store, incident, session, this.context.guard());
    if (outcome === 'claimed_before') {
      return this.tell({ ...incident, not_revived_because: 'its one revival was used before' }, session);
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

  private async followRevival(incident: Incident, session: AgentSession | null): Promise<Progress> {
    const { store, queue, chat } = this.context;
    if (incident.last_action !== 'revival_attempted') {
      await this.log(incident, session, 'revived', 'session_unhealthy', 'revival_attempted');
      const patch = { last_action: 'revival_attempted' } as const;
      if ((await store.incidents.save(incident, patch, this.context.guard())) === null) return 'look';
      if (incident.revival_session_id !== null) {
        await chat.showProgress(incident.revival_session_id, progressText(incident));
      }
      await queue.pump();
      return 'look';
    }
    const revival = await store.records.session(incident.revival_session_id ?? '');
    if (revival === null) return this.close(incident, session, 'revival_gone');
    // A revival that is accused itself has not recovered, whatever it did before.
    const isAccused = revival.incident_id !== null;
    if (revival.status === 'completed' || (!isAccused && (await this.context.hasWorked(revival.session_id)))) {
      return this.close(incident, session, 'recovered', 'session_recovered');
    }
    if (revival.status === 'failed' || revival.status === 'cancelled') {
      return this.close(incident, session, `revival_${revival.status}`);
    }
    return { waitUntil: null };
  }

  private async followMessage(incident: Incident, session: AgentSession | null): Promise<Progress> {
    const { store, chat } = this.context;
    const isTold = incident.last_action.startsWith('failure_message_');
    if (!isTold) {
      const state = await chat.deliver(incident.session_id);
      if (state === 'queued' || state === 'sending') return { waitUntil: null };
      const action = `failure_message_${state}` as const;
      await this.log(incident, session, 'told', 'session_unrecoverable', action);
      await store.incidents.save(incident, { last_action: action }, this.context.guard());
      return 'look';
    }
    return this.close(incident, session, 'told', 'session_unrecoverable');
  }

  /**
   * Waits for the report's end. Then the closing line is written first: replayed, it is dropped by its id; forgotten, it
   * would be missing for ever.
   */
  private async close(
    incident: Incident,
    session: AgentSession | null,
    outcome: string,
    event: CriticalEventName = 'session_unhealthy',
  ): Promise<Progress> {
    if (!hasReportEnded(incident)) return { waitUntil: null };
    await this.write(incidentEvent(incident, session, 'closed', event, this.context.clock.now(), outcome));
    const closed = await this.context.store.incidents.close(session, incident, outcome, this.context.guard());
    if (closed !== null) await this.noteOutcome(closed);
    return 'look';
  }

  private async cancel(incident: Incident, session: AgentSession): Promise<Progress> {
    const outcome = 'cancelled_by_person';
    await this.write(
      incidentEvent(incident, session, 'closed', 'session_unhealthy', this.context.clock.now(), outcome),
    );
    const closed = await this.context.store.incidents.cancelAndClose(
      session,
      incident,
      CANCELLED_TEXT,
      this.context.guard(),
    );
    if (closed !== null) await this.noteOutcome(closed);
    return 'look';
  }

  private async noteOutcome(incident: Incident): Promise<void> {
    if (incident.report.url === null) return;
    await this.context.reporter.noteOutcome(incident).catch((error: unknown) => {
      this.context.logger.warn(
        { err: error, incident_id: incident.incident_id },
        'the outcome could not be noted on the issue',
      );
    });
  }

  /** Starts the report where it is due and not under way; its end advances the incident. */
  private keepReporting(incident: Incident, session: AgentSession | null): void {
    const id = incident.incident_id;
    const { due_at } = incident.report;
    if (due_at === null || due_at > this.context.clock.now() || this.reporting.has(id)) return;
    const work = this.reportOnce(incident, session)
      .catch((error: unknown) => {
        this.context.logger.error(
          { err: error, incident_id: id },
          `incident ${id}: reporting failed: ${describeError(error)}`,
        );
        return false;
      })
      .then(async (changed) => {
        this.reporting.delete(id);
        if (changed) await this.advance(id).catch(() => null);
      });
    this.reporting.set(id, work);
  }

  private async reportOnce(incident: Incident, session: AgentSession | null): Promise<boolean> {
    const report = await this.context.reporter.report(incident, session);
    const { records, incidents } = this.context.store;
    for (let tries = 0; tries < MOST_STEPS; tries += 1) {
      const current = await records.incident(incident.incident_id);
      if (current === null || current.step === 'closed') return false;
      const next = { ...current, report };
      if (report.url !== null && current.report.url === null)
        await this.log(next, session, 'reported', 'session_unhealthy', 'reported');
      const lastAction = current.last_action === 'detected' && report.url !== null ? 'reported' : current.last_action;
      if ((await incidents.save(current, { report, last_action: lastAction }, this.context.guard())) !== null)
        return true;
    }
    return false;
  }

  private async log(
    incident: Incident,
    session: AgentSession | null,
    step: string,
    event: CriticalEventName,
    action = incident.last_action,
  ): Promise<void> {
    await this.write(
      incidentEvent({ ...incident, last_action: action }, session, step, event, this.context.clock.now()),
    );
  }

  /** A full disk must not stop the recovery: it is said in the log, and the step goes on. */
  private async write(event: CriticalEvent): Promise<void> {
    try {
      await this.context.events.logCriticalEvent(event);
    } catch (error) {
      this.context.logger.error(
        { err: error, event },
        `critical event ${event.id} could not be written: ${describeError(error)}`,
      );
    }
  }
}

function hasReportEnded({ report }: Incident): boolean {
  return report.due_at === null;
}

function earliest(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
}
