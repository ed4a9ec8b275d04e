/** What every move of an incident has in common: the compare-and-set on `rev`, and the indexes that follow it. */
import type { CommitName } from '../failpoints.js';
import { type Check, documentChecks, documentWrite, type Write } from '../redis/commit.js';
import type { Incident } from './incidents.js';
import type { AgentSession } from './model.js';
import { subjectName } from './names.js';
import { changeSession, type SessionPatch, type StoreContext, wakeWrite } from './sessionChange.js';

/** A change of an incident together with its session. */
export interface IncidentStep {
  readonly at: CommitName;
  readonly sessionPatch: SessionPatch;
  /** Of the incident. */
  readonly patch: Partial<Incident>;
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}

/** @returns the incident after the change; null if somebody else changed one of the two first, or a check did not hold */
export async function stepIncident(
  context: StoreContext,
  session: AgentSession,
  incident: Incident,
  { at, sessionPatch, patch, checks, writes }: IncidentStep,
): Promise<Incident | null> {
  const next = nextIncident(incident, patch);
  const changed = await changeSession(context, session, {
    at,
    patch: sessionPatch,
    checks: [...checks, ...unchangedIncident(context, incident, incident.rev)],
    writes: [documentWrite(context.keys.incident(incident.incident_id), next), ...writes],
  });
  return changed === null ? null : next;
}

export function nextIncident(incident: Incident, patch: Partial<Incident>): Incident {
  return { ...incident, ...patch, rev: incident.rev + 1 };
}

/** @param rev that the incident has; null: it does not exist */
export function unchangedIncident({ keys }: StoreContext, incident: Incident, rev: number | null): Check[] {
  return documentChecks(keys.incident(incident.incident_id), rev);
}

/**
 * @returns what gives the name of its subject to a new incident; null if another one is open about it
 * @throws RangeError for an incident about a session's run
 */
export async function subjectTaken(
  { redis, keys, records }: StoreContext,
  incident: Incident,
): Promise<{ checks: Check[]; writes: Write[] } | null> {
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
export async function subjectFreed(
  { redis, keys }: StoreContext,
  incident: Incident,
): Promise<{ checks: Check[]; writes: Write[] }> {
  const name = subjectName(incident);
  if (name === null) return { checks: [], writes: [] };
  const key = keys.incidentAbout(name);
  const owner = await redis.get(key);
  const writes: Write[] = owner === incident.incident_id ? [['DEL', key]] : [];
  return { checks: [{ read: ['GET', key], equals: owner }], writes };
}

/** @returns the writes that store a new incident as open */
export function openIncidentWrites({ keys }: StoreContext, incident: Incident): Write[] {
  return [
    documentWrite(keys.incident(incident.incident_id), incident),
    ['ZADD', keys.openIncidents, String(incident.opened_at), incident.incident_id],
    wakeWrite(keys, { incident: incident.incident_id }),
  ];
}

/** @returns the writes that move an incident from the open to the closed ones */
export function closeIncidentWrites({ keys }: StoreContext, incident: Incident, now: number): Write[] {
  return [
    ['ZREM', keys.openIncidents, incident.incident_id],
    ['ZADD', keys.closedIncidents, String(now), incident.incident_id],
  ];
}
