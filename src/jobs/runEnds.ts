/**
 * The end of a run that is stored while an incident may be open. An incident that only reports has no say in how a run ends,
 * and its outcome is stored in the same commit: otherwise a watchdog could close it for another reason, or wait for an end
 * that is never stored. An acting incident decides by itself.
 */
import { ConflictError, unreadable } from '../errors.js';
import { type CheckedWrites, documentChecks, documentWrite } from '../redis/commit.js';
import type { Incident, IncidentOutcome } from './incidents.js';
import type { AgentSession } from './model.js';
import { type Change, type ChangedSession, changeSession, wakeWrite } from './sessionChange.js';
import type { StoreContext } from './storePart.js';

/** Changes by other processes between reading and writing that are worth another try. */
const MOST_TRIES = 20;
const NO_INCIDENT: CheckedWrites = { checks: [], writes: [] };

/**
 * Reads, lets `decide` choose, and writes; tries again if another process was faster.
 * @param outcome of an incident that only reports
 * @param decide chooses without regard to incidents
 * @returns the session afterwards, which no incident has; null if `decide` refused, an acting incident has the session, or a
 *   further check did not hold although neither record had changed
 * @throws ConflictError if the records kept changing
 */
export async function endRunBesideReport(
  context: StoreContext,
  sessionId: string,
  outcome: IncidentOutcome,
  decide: (session: AgentSession) => Change | null,
): Promise<ChangedSession | null> {
  let refused: string | null = null;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const session = await context.records.session(sessionId);
    const change = session === null ? null : decide(session);
    if (session === null || change === null) return null;
    const left = await leftIncident(context, session, outcome);
    const seen = JSON.stringify([session.rev, left?.checks]);
    if (left === null || seen === refused) return null;
    const changed = await changeSession(context, session, {
      ...change,
      patch: { ...change.patch, incident_id: null },
      checks: [...(change.checks ?? []), ...left.checks],
      writes: [...(change.writes ?? []), ...left.writes],
    });
    if (changed !== null) return changed;
    refused = seen;
  }
  throw new ConflictError(
    `session ${sessionId}: it or its incident changed under every one of ${MOST_TRIES} attempts to end its run`,
  );
}

/** @returns the check that the incident stays as it is, and its outcome; null if it acts, or cannot be read, so that it may */
async function leftIncident(
  { keys, records }: StoreContext,
  { incident_id: incidentId }: AgentSession,
  outcome: IncidentOutcome,
): Promise<CheckedWrites | null> {
  if (incidentId === null) return NO_INCIDENT;
  const incident = await records.incident(incidentId).catch(unreadable);
  if (incident === 'unreadable') return null;
  const key = keys.incident(incidentId);
  const checks = documentChecks(key, incident?.rev ?? null);
  // An incident with an outcome, or without a record, decides nothing.
  if (incident === null || incident.step === 'closed' || incident.outcome !== null) return { checks, writes: [] };
  if (incident.acting) return null;
  const next: Incident = { ...incident, outcome, rev: incident.rev + 1 };
  return { checks, writes: [documentWrite(key, next), wakeWrite(keys, { incident: incidentId })] };
}
