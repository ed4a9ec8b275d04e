/** From `detected` to the fork: the run is ended and proven dead; then it is run again, or the chat is notified that it failed. */
import type { IncidentRule } from '../../../src/config/rules.js';
import type { Finding } from '../../../src/jobs/findings.js';
import type { Incident } from '../../../src/jobs/incidents.js';
import type { AgentSession, Run } from '../../../src/jobs/model.js';
import { revivalOf } from '../../../src/jobs/newRecords.js';
import { publishWake } from '../../../src/jobs/wakes.js';
import { isAhead } from '../../../src/time.js';
import { type Evidence, isActedOn } from '../newIncident.js';
import type { Admission, OutageGate } from '../outage/gate.js';
import { decide, type Progress, type SagaContext, saveAndLook } from '../sagaContext.js';
import { CANCELLED_TEXT, failureText } from '../texts/chatTexts.js';
import { leadingReason } from '../texts/incidentEvents.js';
import { hasReportEnded } from './dueReports.js';

const PROVIDER_DOWN = 'the model provider was down, and several messages that I tried got no answer';
const STOPPED = 'its bridge was killed while it stopped';

export class RunEnding {
  readonly #context: SagaContext;
  readonly #gate: OutageGate;

  constructor(context: SagaContext, gate: OutageGate) {
    this.#context = context;
    this.#gate = gate;
  }

  /** The same checks come before every step. */
  async advance(incident: Incident, session: AgentSession | null, admission: Admission): Promise<Progress> {
    const { incidents } = this.#context.store;
    if (session === null) return decide(this.#context, incident, 'session_gone');
    if (session.status === 'completed') return decide(this.#context, incident, 'answered');
    if (session.status === 'cancelled') return decide(this.#context, incident, 'cancelled_by_person');
    if (session.status !== 'active') return decide(this.#context, incident, `session_${session.status}`);
    if (session.stop?.cause === 'cancel' && session.released !== null) {
      await incidents.cancel(session, incident, CANCELLED_TEXT, this.#context.folders.guard());
      return 'look';
    }
    if (!incident.acting) return { waitUntil: null };
    if (session.run === null && incident.step !== 'released') {
      // Nothing ever ran for it, so nothing can be left of it.
      return saveAndLook(this.#context, incident, { step: 'released' });
    }
    if (incident.step === 'detected') {
      await incidents.requestStop(session, incident, this.#context.folders.guard());
      return 'look';
    }
    if (incident.step === 'stopping') return this.#awaitRelease(incident, session);
    if (await this.#hasEnded(incident, session)) return 'look';
    if (session.released !== null && (await isPutBack(this.#context, incident, session))) return 'look';
    if (admission.kind === 'wait') return { waitUntil: null };
    return this.#fork(incident, session);
  }

  /** This host knows of an end that the store has forgotten: nothing is run again, and no failure is reported. */
  async #hasEnded(incident: Incident, session: AgentSession): Promise<boolean> {
    const { store, folders, endOnDisk } = this.#context;
    const end = await endOnDisk(session);
    if (end === null) return false;
    await store.incidents.endForgotten(session, incident, end, folders.guard());
    return true;
  }

  async #awaitRelease(incident: Incident, session: AgentSession): Promise<Progress> {
    const { store, gaps, timings } = this.#context;
    const proof = session.released ?? (await this.#context.proveDead(session));
    if (proof !== null) {
      if (session.released === null && (await store.transitions.release(session.session_id, proof)) === null)
        return 'look';
      return saveAndLook(this.#context, incident, { step: 'released' });
    }
    const now = gaps.now();
    const askedAt = Math.max(incident.stopping_at ?? now, gaps.lastEnd(session.run));
    const givenUpAt = askedAt + timings.proofMs;
    if (isAhead(givenUpAt, timings.proofMs, now)) return { waitUntil: givenUpAt };
    if (await this.#hasEnded(incident, session)) return 'look';
    const because =
      "it could not be proven that the first attempt has really ended, and two at once would get in each other's way";
    return this.#reportFailure(incident, session, incident.not_revived_because ?? because);
  }

  async #fork(incident: Incident, session: AgentSession): Promise<Progress> {
    const { clock, timings } = this.#context;
    const detectedAt = incident.detected_at ?? clock.now();
    const passedAt = this.#gate.passedAt(incident) ?? detectedAt;
    // The few seconds before the report begins are part of the wait for its link; a minute is not.
    const urlDue = (passedAt - detectedAt < timings.reportWaitMs ? detectedAt : passedAt) + timings.reportWaitMs;
    const mayComeYet = incident.report.url === null && !hasReportEnded(incident);
    if (mayComeYet && isAhead(urlDue, timings.reportWaitMs, clock.now())) return { waitUntil: urlDue };
    if (await this.#isAnsweredBySecond(incident, session)) return this.#attemptRevival(incident, session);
    const { not_revived_because: known, attempt } = incident;
    const isProviderDown = incident.hold?.state === 'give_up' && attempt === 1;
    if (isProviderDown) return this.#reportFailure(incident, session, known ?? PROVIDER_DOWN);
    const because = known ?? (attempt === 2 ? null : this.#context.keptBack(session));
    if (because !== null || attempt === 2) return this.#reportFailure(incident, session, because);
    return this.#attemptRevival(incident, session);
  }

  /** The one permitted re-enqueue of a message. */
  async #attemptRevival(incident: Incident, session: AgentSession): Promise<Progress> {
    const { store, folders } = this.#context;
    const isUsed = (await store.records.claimOf(session)) !== null;
    if (isUsed) return this.#reportFailure(incident, session, 'its one second attempt was already used');
    await store.incidents.revive(session, incident, { endReason: leadingReason(incident), guard: folders.guard() });
    return 'look';
  }

  /** A second attempt that the store has forgotten has answered: granted again, it ends with that answer. */
  async #isAnsweredBySecond(incident: Incident, session: AgentSession): Promise<boolean> {
    if (incident.attempt === 2 || (session.run !== null && session.released === null)) return false;
    return this.#context.isAnsweredInJournal(revivalOf(session, this.#context.clock.now()));
  }

  async #reportFailure(incident: Incident, session: AgentSession, because: string | null): Promise<Progress> {
    const { store, folders } = this.#context;
    const patch = { not_revived_because: because };
    const text = failureText({ ...incident, ...patch });
    const failure = { endReason: leadingReason(incident), text, patch, guard: folders.guard() };
    await store.incidents.fail(session, incident, failure);
    return 'look';
  }
}

/** If the agent cannot have done anything yet, or the bridge was being stopped. @returns false if it counts as an attempt */
async function isPutBack(context: SagaContext, incident: Incident, session: AgentSession): Promise<boolean> {
  const { store, folders, wasCutDown, wasStopping, keptBack } = context;
  if (!isOnlyLost(incident.findings) || incident.hold !== undefined) return false;
  if (incident.not_revived_because !== null || keptBack(session) !== null) return false;
  if (session.stop?.cause === 'cancel' || session.run === null) return false;
  const isStopped = await wasStopping(session);
  if (!isStopped && !wasCutDown(session)) return false;
  if ((await store.incidents.putBack(session, incident, folders.guard())) === null) return false;
  logPutBack(context, session, isStopped ? STOPPED : 'interrupted before anything was heard of its agent');
  return true;
}

/**
 * A run of a bridge that was killed while stopping has not failed. It is put back without an incident, or given the end that
 * this host knows, so nothing more is reported. Until its lease expires, its end may still be proven; after that it is accused
 * like any lost run.
 * @param session active, without an incident that acts
 * @returns whether to make no accusation now: it waits again, has ended, or the proof that its run has ended is still to come
 */
export async function isSpared(
  context: SagaContext,
  session: AgentSession,
  { findings, actions }: Pick<Evidence, 'findings' | 'actions'>,
): Promise<boolean> {
  const { store, clock, timings, keptBack, proveDead, endOnDisk, wasStopping } = context;
  const { session_id, run } = session;
  const acting = findings.filter(({ rule }) => isActedOn(rule, actions));
  if (run === null || acting.length === 0 || !isOnlyLost(acting)) return false;
  if (session.stop?.cause === 'cancel') return isCancelled(context, session, run);
  if (!(await wasStopping(session))) return false;
  const proof = session.released ?? (await proveDead(session));
  if (proof === null) {
    const leaseUntil = await store.records.leaseUntil(session_id);
    return leaseUntil !== null && isAhead(leaseUntil, timings.runLeaseMs, clock.now());
  }
  const end = await endOnDisk(session);
  if (end !== null) {
    if ((await store.transitions.endForgotten(session_id, run.run_id, end)) === null) return false;
    // Starting the next session in the lane is its bridge's job: wake it.
    await publishWake(store, { lane: session.lane });
    return true;
  }
  if (keptBack({ ...session, released: proof }) !== null) return false;
  if ((await store.transitions.interrupt(session_id, run.run_id, proof)) === null) return false;
  logPutBack(context, session, STOPPED);
  return true;
}

/** A person asked for its end before its bridge was gone: that is the end, whatever happened to the bridge. */
async function isCancelled({ store, proveDead }: SagaContext, session: AgentSession, run: Run): Promise<boolean> {
  const { session_id } = session;
  if (session.released === null) {
    const proof = await proveDead(session);
    if (proof === null || (await store.transitions.release(session_id, proof)) === null) return false;
  }
  return (await store.transitions.cancelReleased(session_id, run.run_id, CANCELLED_TEXT)) !== null;
}

function isOnlyLost(findings: readonly Finding<IncidentRule>[]): boolean {
  return findings.every(({ rule }) => rule === 'orphan');
}

function logPutBack({ logger }: SagaContext, { session_id }: AgentSession, why: string): void {
  logger.info({ session_id }, `session ${session_id}: ${why}; it waits again`);
}
