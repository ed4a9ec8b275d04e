/** A lost run whose agent had not made a first call, or whose bridge was being stopped, is put back, not revived or told. */
import type { Incident } from '../../src/incidents.js';
import type { AgentSession } from '../../src/model.js';
import type { SagaContext } from './sagaContext.js';

/** @returns whether it was; false where it made a call or was put back too often, or another rule is true, too */
export async function isPutBack(context: SagaContext, incident: Incident, session: AgentSession): Promise<boolean> {
  const { store, logger, guard, wasCutDown, wasStopping, keptBack } = context;
  const isLost = incident.findings.every(({ rule }) => rule === 'orphan') && incident.hold === undefined;
  if (!isLost || incident.not_revived_because !== null || keptBack(session) !== null) return false;
  if (session.stop?.cause === 'cancel' || session.run === null) return false;
  const isStopped = await wasStopping(session.run.owner);
  if (!isStopped && !wasCutDown(session)) return false;
  if ((await store.incidents.putBack(session, incident, guard())) === null) return false;
  const { session_id } = session;
  const why = isStopped ? 'its bridge was killed while it stopped' : 'cut down before its agent made a call';
  logger.info({ session_id }, `session ${session_id}: ${why}; it waits again`);
  return true;
}
