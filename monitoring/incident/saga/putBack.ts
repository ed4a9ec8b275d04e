/**
 * A lost run is put back, neither revived nor reported to the chat, if its agent had not made a first call or its bridge was
 * being stopped. A run that a person has cancelled is cancelled.
 */
import type { IncidentRule } from '../../../src/config/rules.js';
import type { Finding } from '../../../src/jobs/findings.js';
import type { Incident } from '../../../src/jobs/incidents.js';
import type { AgentSession, Run } from '../../../src/jobs/model.js';
import { publishWake } from '../../../src/jobs/wakes.js';
import type { SagaContext } from '../sagaContext.js';
import { CANCELLED_TEXT } from '../texts/chatTexts.js';

/** @returns whether it was; false if it made a call or was put back too often, or another rule is also true */
export async function isPutBack(context: SagaContext, incident: Incident, session: AgentSession): Promise<boolean> {
  const { store, folders, wasCutDown, wasStopping, keptBack } = context;
  if (!isOnlyLost(incident.findings) || incident.hold !== undefined) return false;
  if (incident.not_revived_because !== null || keptBack(session) !== null) return false;
  if (session.stop?.cause === 'cancel' || session.run === null) return false;
  const isStopped = await wasStopping(session);
  if (!isStopped && !wasCutDown(session)) return false;
  if ((await store.incidents.putBack(session, incident, folders.guard())) === null) return false;
  logPutBack(context, session, isStopped ? STOPPED : 'interrupted before its agent made a call');
  return true;
}

/**
 * A run of a bridge that was killed while stopping has not failed. It is put back without an incident, or given the end that
 * this host knows of, so nothing is reported. Until its lease expires, its end may still be proven; after that an incident is
 * opened as for any lost run.
 * @param session active, without an incident
 * @returns whether to accuse nobody now: it waits again, has ended, or the proof that its run has ended is still to come
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

const STOPPED = 'its bridge was killed while it stopped';

function isOnlyLost(findings: readonly Finding<IncidentRule>[]): boolean {
  return findings.every(({ rule }) => rule === 'orphan');
}

function logPutBack({ logger }: SagaContext, { session_id }: AgentSession, why: string): void {
  logger.info({ session_id }, `session ${session_id}: ${why}; it waits again`);
}
