/** The common part of every move of an incident: the compare-and-set on `rev`, and the indexes that follow it. */
import type { CommitName } from '../failpoints.js';
import { applyCommit, type CheckedWrites, documentChecks, documentWrite, type Write } from '../redis/commit.js';
import type { Incident } from './incidents.js';
import type { AgentSession } from './model.js';
import { subjectName } from './names.js';
import { changeSession, type SessionPatch, wakeWrite } from './sessionChange.js';
import type { StoreContext } from './storePart.js';

export interface IncidentMove extends Partial<CheckedWrites> {
  readonly at: CommitName;
  readonly patch: Partial<Incident>;
  readonly sessionPatch?: SessionPatch;
}

/** @param session changed with the incident @returns null if another process changed one first, or a check did not hold */
export async function moveIncident(
  context: StoreContext,
  session: AgentSession | null,
  incident: Incident,
  { at, patch, sessionPatch = {}, checks = [], writes = [] }: IncidentMove,
): Promise<Incident | null> {
  const key = context.keys.incident(incident.incident_id);
  const next = { ...incident, ...patch, rev: incident.rev + 1 };
  const change = {
    at,
    checks: [...checks, ...documentChecks(key, incident.rev)],
    writes: [documentWrite(key, next), ...writes],
  };
  const isApplied =
    session === null
      ? await applyCommit(context.redis, change)
      : (await changeSession(context, session, { ...change, patch: sessionPatch })) !== null;
  return isApplied ? next : null;
}

/** @returns null if another incident is open about its subject @throws RangeError for an incident about a session's run */
export async function subjectTaken(
  { redis, keys, records }: StoreContext,
  incident: Incident,
): Promise<CheckedWrites | null> {
  const name = subjectName(incident);
  if (name === null) throw new RangeError(`incident ${incident.incident_id} has no subject of its own`);
  const key = keys.incidentAbout(name);
  const former = await redis.get(key);
  // A name may outlive a record that was set aside, and an incident with an outcome only waits for its last report.
  const open = former === null ? null : await records.incident(former);
  if (open !== null && open.step !== 'closed' && open.outcome === null) return null;
  return { checks: [{ read: ['GET', key], equals: former }], writes: [['SET', key, incident.incident_id]] };
}

/** @returns the writes that free the name of the incident's subject, unless a later incident has it */
export async function subjectFreed({ redis, keys }: StoreContext, incident: Incident): Promise<CheckedWrites> {
  const name = subjectName(incident);
  if (name === null) return { checks: [], writes: [] };
  const key = keys.incidentAbout(name);
  const owner = await redis.get(key);
  const writes: Write[] = owner === incident.incident_id ? [['DEL', key]] : [];
  return { checks: [{ read: ['GET', key], equals: owner }], writes };
}

export function openedIncident({ keys }: StoreContext, incident: Incident): CheckedWrites {
  const key = keys.incident(incident.incident_id);
  return {
    checks: documentChecks(key, null),
    writes: [
      documentWrite(key, incident),
      ['ZADD', keys.openIncidents, String(incident.opened_at), incident.incident_id],
      wakeWrite(keys, { incident: incident.incident_id }),
    ],
  };
}
