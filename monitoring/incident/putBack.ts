/** A lost run whose agent had not made a first call is put back instead of being revived or told. */
import type { Incident } from '../../src/incidents.js';
import type { AgentSession } from '../../src/model.js';
import type { SagaContext } from './sagaContext.js';

/** @returns whether it was; false where it made a call, was put back too often, or another rule is true, too */
export async function isPutBack(context: SagaContext, incident: Incident, session: AgentSession): Promise<boolean> {
  const { store, logger, guard, wasCutDown, keptBack } = context;
  const isLost = incident.findings.every(({ rule }) => rule === 'orphan') && incident.hold === undefined;
  if (!isLost || incident.not_revived_because !== null || keptBack(session) !== null) return false;
  if (session.stop?.cause === 'cancel' || !wasCutDown(session)) return false;
  if ((await store.incidents.putBack(session, incident, guard())) === null) return false;
  const { session_id } = session;
  logger.info({ session_id }, `session ${session_id}: cut down before its agent made a call; it waits again`);
  return true;
}
