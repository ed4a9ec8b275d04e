/**
 * From `detected` to the fork: the run is ended and proven dead; then the message is run again, or the chat is notified that it
 * failed.
 */
import type { Incident } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import type { Admission, OutageGate } from '../outage/gate.js';
import { decide, type Progress, type SagaContext } from '../sagaContext.js';
import { CANCELLED_TEXT, failureText } from '../texts/chatTexts.js';
import { leadingReason } from '../texts/incidentEvents.js';
import { hasReportEnded } from './dueReports.js';
import { isPutBack } from './putBack.js';
import { attemptRevival, isAnsweredBySecond } from './revive.js';

const PROVIDER_DOWN = 'the provider of its model was down, and several messages that I tried meanwhile got no answer';

export class RunEnding {
  private readonly context: SagaContext;
  private readonly gate: OutageGate;

  constructor(context: SagaContext, gate: OutageGate) {
    this.context = context;
    this.gate = gate;
  }

  /** The same checks come before every step. */
  async advance(incident: Incident, session: AgentSession | null, admission: Admission): Promise<Progress> {
    const { incidents } = this.context.store;
    if (session === null) return decide(this.context, incident, 'session_gone');
    if (session.status === 'completed') return decide(this.context, incident, 'answered');
    if (session.status === 'cancelled') return decide(this.context, incident, 'cancelled_by_person');
    if (session.status !== 'active') return decide(this.context, incident, `session_${session.status}`);
    if (session.stop?.cause === 'cancel' && session.released !== null) {
      await incidents.cancel(session, incident, CANCELLED_TEXT, this.context.folders.guard());
      return 'look';
    }
    if (!incident.acting) return { waitUntil: null };
    if (session.run === null && incident.step !== 'released') {
      // Nothing ever ran for it, so nothing can be left of it.
      await incidents.save(incident, { step: 'released' }, this.context.folders.guard());
      return 'look';
    }
    if (incident.step === 'detected') {
      await incidents.requestStop(session, incident, this.context.folders.guard());
      return 'look';
    }
    if (incident.step === 'stopping') return this.awaitRelease(incident, session);
    if (await this.hasEnded(incident, session)) return 'look';
    if (session.released !== null && (await isPutBack(this.context, incident, session))) return 'look';
    if (admission.kind === 'wait') return { waitUntil: null };
    return this.fork(incident, session);
  }

  /** This host knows of an end that the store has forgotten: nothing is run again, and no failure is reported. */
  private async hasEnded(incident: Incident, session: AgentSession): Promise<boolean> {
    const { store, folders, endOnDisk } = this.context;
    const end = await endOnDisk(session);
    if (end === null) return false;
    await store.incidents.endForgotten(session, incident, end, folders.guard());
    return true;
  }

  private async awaitRelease(incident: Incident, session: AgentSession): Promise<Progress> {
    const { store, gaps, timings, folders } = this.context;
    const proof = session.released ?? (await this.context.proveDead(session));
    if (proof !== null) {
      if (session.released === null && (await store.transitions.release(session.session_id, proof)) === null)
        return 'look';
      await store.incidents.save(incident, { step: 'released' }, folders.guard());
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
    const outcome = await attemptRevival(this.context.store, incident, session, this.context.folders.guard());
    if (outcome === 'claimed_before') {
      return this.tell({ ...incident, not_revived_because: 'the one second attempt was used before' }, session);
    }
    return 'look';
  }

  private async tell(incident: Incident, session: AgentSession): Promise<Progress> {
    const text = failureText(incident);
    const patch = { not_revived_because: incident.not_revived_because };
    const endReason = leadingReason(incident);
    const guard = this.context.folders.guard();
    await this.context.store.incidents.failAndTell(session, incident, { endReason, text, patch, guard });
    return 'look';
  }
}
