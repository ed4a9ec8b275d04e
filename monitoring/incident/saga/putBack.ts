/**
 * A lost run whose agent had not made a first call, or whose bridge was being stopped, is put back, not revived or told; one
 * that a person has cancelled is cancelled.
 */
import type { IncidentRule } from '../../../src/config/rules.js';
import type { Finding } from '../../../src/jobs/findings.js';
import type { Incident } from '../../../src/jobs/incidents.js';
import type { AgentSession, Run } from '../../../src/jobs/model.js';
import { publishWake } from '../../../src/jobs/wakes.js';
import type { SagaContext } from '../sagaContext.js';
import { CANCELLED_TEXT } from '../texts/chatTexts.js';

/** @returns whether it was; false where it made a call or was put back too often, or another rule is true, too */
export async function isPutBack(context: SagaContext, incident: Incident, session: AgentSession): Promise<boolean> {
  const { store, guard, wasCutDown, wasStopping, keptBack } = context;
  if (!isOnlyLost(incident.findings) || incident.hold !== undefined) return false;
  if (incident.not_revived_because !== null || keptBack(session) !== null) return false;
  if (session.stop?.cause === 'cancel' || session.run === null) return false;
  const isStopped = await wasStopping(session);
  if (!isStopped && !wasCutDown(session)) return false;
  if ((await store.incidents.putBack(session, incident, guard())) === null) return false;
  logPutBack(context, session, isStopped ? STOPPED : 'cut down before its agent made a call');
  return true;
}

/**
 * What a bridge ran that was killed while it stopped has not failed: it is put back without an incident, or ends as this
 * host knows that it had, so that nothing is reported. Until its lease is over its end may still be proven; after that an
 * incident is opened as for any lost run.
 * @param session active, without an incident
 * @returns whether nobody is to be accused now: it waits again, has ended, or the proof that its run has ended is to come
 */
export async function isSpared(
  context: SagaContext,
  session: AgentSession,
  findings: readonly Finding[],
): Promise<boolean> {
  const { store, clock, keptBack, proveDead, endOnDisk, wasStopping } = context;
  const { session_id, run } = session;
  if (run === null || !isOnlyLost(findings)) return false;
  if (session.stop?.cause === 'cancel') return isCancelled(context, session, run);
  if (!(await wasStopping(session))) return false;
  const proof = session.released ?? (await proveDead(session));
  if (proof === null) {
    const leaseUntil = await store.records.leaseUntil(session_id);
    return leaseUntil !== null && clock.now() <= leaseUntil;
  }
  const end = await endOnDisk(session);
  if (end !== null) {
    if ((await store.transitions.endForgotten(session_id, run.run_id, end)) === null) return false;
    // Whoever is next in the lane is nobody's business here: its bridge is told.
    await publishWake(store, { lane: session.lane });
    return true;
  }
  if (keptBack({ ...session, released: proof }) !== null) return false;
  if ((await store.transitions.interrupt(session_id, run.run_id, proof)) === null) return false;
  logPutBack(context, session, STOPPED);
  return true;
}

/** A person has asked for its end before its bridge was gone: that is the end, whatever became of the bridge. */
async function isCancelled({ store, proveDead }: SagaContext, session: AgentSession, run: Run): Promise<boolean> {
  const { session_id } = session;
  if (session.released === null) {
    const proof = await proveDead(session);
    if (proof === null || (await store.transitions.release(session_id, proof)) === null) return false;
  }
  return (await store.transitions.cancelReleased(session_id, run.run_id, CANCELLED_TEXT)) !== null;
}

const STOPPED = 'its bridge was killed while it stopped';

function isOnlyLost(findings: readonly Finding<IncidentRule>[]): boolean {
  return findings.every(({ rule }) => rule === 'orphan');
}

function logPutBack({ logger }: SagaContext, { session_id }: AgentSession, why: string): void {
  logger.info({ session_id }, `session ${session_id}: ${why}; it waits again`);
}
