/** The one permitted re-enqueue of a message. */
import type { Incident } from '../../src/incidents.js';
import type { AgentSession } from '../../src/model.js';
import type { Guard } from '../../src/store/incidentTransitions.js';
import type { Store } from '../../src/store/store.js';
import { leadingReason } from './incidentEvents.js';

/**
 * Consumes the claim of (project, chat, message), fails the session and puts its revival at the lane's head: one commit.
 * @returns `revived`; `changed` where the session or incident changed first: look again; `claimed_before` where the
 *   message's one revival belongs to another incident
 */
export async function attemptRevival(
  store: Store,
  incident: Incident,
  session: AgentSession,
  guard: Guard,
): Promise<'revived' | 'changed' | 'claimed_before'> {
  const claim = await store.records.claimOf(session);
  if (claim !== null) return 'claimed_before';
  const revived = await store.incidents.revive(session, incident, leadingReason(incident), {}, guard);
  return revived === null ? 'changed' : 'revived';
}
