/** The one permitted re-enqueue of a message. */
import type { Incident } from '../../../src/jobs/incidents.js';
import type { Guard } from '../../../src/jobs/incidentTransitions.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { revivalOf } from '../../../src/jobs/newRecords.js';
import type { Store } from '../../../src/jobs/store.js';
import type { SagaContext } from '../sagaContext.js';
import { leadingReason } from '../texts/incidentEvents.js';

/**
 * Consumes the claim of (project, chat, message), fails the session and puts its revival at the lane's head: one commit.
 * @returns `revived`; `changed` if the session or incident changed first: look again; `claimed_before` if the message's one
 * revival belongs to another incident
 */
export async function attemptRevival(
  store: Store,
  incident: Incident,
  session: AgentSession,
  guard: Guard,
): Promise<'revived' | 'changed' | 'claimed_before'> {
  const claim = await store.records.claimOf(session);
  if (claim !== null) return 'claimed_before';
  const revived = await store.incidents.revive(session, incident, { endReason: leadingReason(incident), guard });
  return revived === null ? 'changed' : 'revived';
}

/** @returns whether a second attempt that the store has forgotten has answered: granted again it ends with that answer */
export async function isAnsweredBySecond(
  { clock, isAnsweredInJournal }: Pick<SagaContext, 'clock' | 'isAnsweredInJournal'>,
  incident: Incident,
  session: AgentSession,
): Promise<boolean> {
  if (incident.attempt === 2 || (session.run !== null && session.released === null)) return false;
  return isAnsweredInJournal(revivalOf(session, clock.now()));
}
