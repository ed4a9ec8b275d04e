/** Sessions that no index, lane, lease or final message refers to, or that wait for an incident that no longer exists. */

import type { Redis } from 'ioredis';
import { unreadable } from '../errors.js';
import { type Check, type CheckedWrites, documentChecks, type Write } from '../redis/commit.js';
import { laneEntryWrites, placeInLane } from './lanes.js';
import { type AgentSession, isDelivered, type OutboxEntry, SESSION_STATUSES } from './model.js';
import { newOutboxEntry } from './newRecords.js';
import {
  outboxWrites,
  patched,
  revisionCheck,
  sessionIndexWrite,
  sessionWrites,
  statusIndexOf,
} from './sessionChange.js';
import type { StoreContext } from './storePart.js';

/** A record that nothing would ever bring to an end, and the commit that does if it is unchanged. */
export interface Stray extends CheckedWrites {
  /** Stable, without spaces: the reason in log and critical event. */
  readonly reason: string;
  /** The record's id, lane or session. */
  readonly id: string;
  /** The rest of a sentence that begins with the id. */
  readonly end: string;
  /** A message that will not end as it should have; a critical event reports it. */
  readonly lost?: { readonly sessionId: string; readonly projectKey: string | null };
}

/** The texts for sessions that must have a final message when nothing else of it is left. */
export interface FinalTexts {
  readonly failed: string;
  readonly cancelled: string;
}

/** A session's fault, and its remedy; the id and the check of its record are added. */
type Fault = Omit<Stray, 'id' | 'checks'> & { readonly checks?: readonly Check[] };

/** @returns the faults of a stored session; each fault is fixed by its own commit */
export async function straysOfSession(
  context: StoreContext,
  session: AgentSession,
  runLeaseMs: number,
  texts: FinalTexts,
): Promise<Stray[]> {
  const found = await Promise.all([
    outsideItsIndex(context, session),
    outsideItsLane(context, session),
    withoutLease(context, session, runLeaseMs),
    withDeadIncident(context, session),
    undelivered(context, session, texts),
  ]);
  const isUnchanged = revisionCheck(context.keys, session);
  return found
    .filter((fault) => fault !== null)
    .map((fault) => ({ ...fault, id: session.session_id, checks: [isUnchanged, ...(fault.checks ?? [])] }));
}

async function outsideItsIndex({ redis, keys }: StoreContext, session: AgentSession): Promise<Fault | null> {
  const { session_id: id } = session;
  const right = statusIndexOf(session.status);
  const indexes = [...new Set(SESSION_STATUSES.map(statusIndexOf))];
  const scores = await Promise.all(indexes.map((index) => redis.zscore(keys.status(index), id)));
  const wrong = indexes.filter((index, at) => index !== right && scores[at] !== null);
  if (wrong.length === 0 && scores[indexes.indexOf(right)] !== null) return null;
  return {
    reason: 'session_outside_its_index',
    end: `is ${session.status} but was listed under another status; it is listed correctly again`,
    writes: [...wrong.map((index): Write => ['ZREM', keys.status(index), id]), sessionIndexWrite(keys, session)],
  };
}

async function outsideItsLane(context: StoreContext, session: AgentSession): Promise<Fault | null> {
  const { redis, keys } = context;
  const { session_id: id, lane } = session;
  if (session.status !== 'pending' || (await redis.lpos(keys.lane(lane), id)) !== null) return null;
  return {
    reason: 'session_outside_its_lane',
    end: `waited in no lane; it waits in ${lane} again`,
    checks: [{ read: ['LPOS', keys.lane(lane), id], equals: null }],
    writes: laneEntryWrites(context, session, await placeInLane(context, session)),
  };
}

/**
 * A living run renews it; otherwise it expires, and the session is found to be an orphan. One that lasts far longer than any lease
 * was stored before a clock was set back; hosts whose clocks differ a little are left alone.
 */
async function withoutLease(
  { redis, keys, clock }: StoreContext,
  { session_id: id, status }: AgentSession,
  runLeaseMs: number,
): Promise<Fault | null> {
  if (status !== 'active') return null;
  const until = await redis.zscore(keys.runLeases, id);
  if (until !== null && Number(until) <= clock.now() + 2 * runLeaseMs) return null;
  return {
    reason: until === null ? 'run_without_lease' : 'run_with_endless_lease',
    end: `was active ${until === null ? 'without a lease' : 'with a lease from before the clock was set back'}; it has one, which runs out unless its run lives`,
    checks: [{ read: ['ZSCORE', keys.runLeases, id], equals: until }],
    writes: [['ZADD', keys.runLeases, String(clock.now() + runLeaseMs), id]],
  };
}

async function withDeadIncident({ keys, records }: StoreContext, session: AgentSession): Promise<Fault | null> {
  const { incident_id: incidentId } = session;
  if (incidentId === null) return null;
  const incident = await records.incident(incidentId).catch(unreadable);
  if (incident === 'unreadable' || (incident !== null && incident.step !== 'closed')) return null;
  return {
    reason: 'session_of_a_dead_incident',
    end: `was held by incident ${incidentId}, which no longer exists; it is judged again`,
    checks: documentChecks(keys.incident(incidentId), incident?.rev ?? null),
    writes: sessionWrites(keys, session, { ...session, incident_id: null, rev: session.rev + 1 }),
  };
}

async function undelivered(
  { redis, keys, clock }: StoreContext,
  session: AgentSession,
  texts: FinalTexts,
): Promise<Fault | null> {
  const { session_id: sessionId, project_key: projectKey, ended_at } = session;
  const { delivery } = session.request;
  if (ended_at === null || delivery === null || isDelivered(delivery)) return null;
  if ((await redis.exists(keys.outbox(sessionId))) === 1) return null;
  const checks: Check[] = [{ read: ['EXISTS', keys.outbox(sessionId)], equals: '0' }];
  const entry = delivery === 'queued' ? finalMessage(session, texts, clock.now()) : null;
  if (entry !== null) {
    const end = 'had a final message that was lost before it was sent; it is created again';
    return { reason: 'final_message_missing', end, checks, writes: outboxWrites(keys, entry) };
  }
  const next = patched(session, { rev: session.rev + 1, request: { delivery: 'unknown' } });
  return {
    reason: 'final_message_lost',
    end: 'had a final message that was lost while being sent: it is unknown whether the chat got it',
    lost: { sessionId, projectKey },
    checks,
    writes: sessionWrites(keys, session, next),
  };
}

function finalMessage(session: AgentSession, texts: FinalTexts, now: number): OutboxEntry | null {
  const { status, answer } = session;
  if (status === 'completed') return answer === null ? null : newOutboxEntry(session, 'answer', answer, now);
  if (status === 'failed') return newOutboxEntry(session, 'failure', texts.failed, now);
  return status === 'cancelled' ? newOutboxEntry(session, 'cancelled', texts.cancelled, now) : null;
}

/** @returns the ids without a record in the indexes of sessions and incidents, and in the list of due entries */
export async function namesWithoutRecord({ redis, keys }: StoreContext, most: number): Promise<Stray[]> {
  const among = async (index: string, keyOf: (id: string) => string, reason: string, end: string) => {
    const ids = await missing(redis, await redis.zrange(index, '0', String(most - 1)), keyOf);
    return ids.map((id): Stray => {
      return { reason, id, end, checks: [{ read: ['EXISTS', keyOf(id)], equals: '0' }], writes: [['ZREM', index, id]] };
    });
  };
  const sessions = async (status: 'pending' | 'active') => {
    const end = `was ${status} and has no record: its message is unknown`;
    const found = await among(keys.status(status), keys.session, 'session_record_missing', end);
    return found.map(({ writes, ...stray }): Stray => {
      const lost = { sessionId: stray.id, projectKey: null };
      return { ...stray, lost, writes: [...writes, ['ZREM', keys.runLeases, stray.id]] };
    });
  };
  const dropped = 'had a due final message without a record; the message is dropped';
  const released = 'was open and has no record; its session is judged again';
  return [
    ...(await sessions('pending')),
    ...(await sessions('active')),
    ...(await among(keys.outboxDue, keys.outbox, 'final_message_missing', dropped)),
    ...(await among(keys.openIncidents, keys.incident, 'incident_record_missing', released)),
  ];
}

export async function missing(redis: Redis, ids: readonly string[], keyOf: (id: string) => string): Promise<string[]> {
  const exist = await Promise.all(ids.map((id) => redis.exists(keyOf(id))));
  return ids.filter((_, at) => exist[at] === 0);
}
