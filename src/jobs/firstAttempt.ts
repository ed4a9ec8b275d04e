/**
 * A store that lost its last moment may show a first attempt as running or waiting although a bridge has begun the second one.
 * Storing the second one again must settle the first in the same commit: otherwise both would end, and the message would have
 * two ends.
 */

import { type Check, type CheckedWrites, documentChecks, documentWrite, type Write } from '../redis/commit.js';
import type { Incident, IncidentStep } from './incidents.js';
import type { AgentSession } from './model.js';
import { laneReleaseWrites, revisionCheck, sessionWrites, wakeWrite } from './sessionChange.js';
import type { StoreContext } from './storePart.js';
import { unreadable } from './straySessions.js';

/** Replaces an incident that is gone: the message's one revival is used. */
const FORGOTTEN_INCIDENT = 'forgotten';
/**
 * More than the number of changes that a process storing a record again can have missed, so that no process takes the record
 * for the one it has read.
 */
export const UNSEEN_CHANGES = 1_000;

/** The checks and writes on the first attempt for a commit that stores its second attempt again. */
export interface SettledFirst extends CheckedWrites {
  /** The first attempt's run; it is proven dead, because a second attempt was granted. Null if none is known. */
  readonly runId: string | null;
}

const BEFORE_FORK: readonly IncidentStep[] = ['opened', 'detected', 'stopping', 'released'];

/**
 * @param session perhaps a second attempt
 * @returns null if the first attempt has ended without this second one: its message has its end
 * @throws ioredis' error if Redis is unavailable
 */
export async function settleFirst(context: StoreContext, session: AgentSession): Promise<SettledFirst | null> {
  const { session_id: revivalId, revival_of: firstId } = session;
  if (firstId === null) return { checks: [], writes: [], runId: null };
  const { keys, records } = context;
  const now = context.clock.now();
  const first = await records.session(firstId).catch(unreadable);
  const message = keys.message(session.project_key, session.request.chat_id, session.request.message_id);
  const claim = (by: string): Write => ['HSET', message, 'claimed_by', by, 'revival_id', revivalId];
  // Unreadable records are set aside elsewhere; what is known of the second attempt must not wait for that.
  if (first === 'unreadable') return { checks: [], writes: [claim(FORGOTTEN_INCIDENT)], runId: null };
  if (first === null) {
    const isGone: Check = { read: ['EXISTS', keys.session(firstId)], equals: '0' };
    return { checks: [isGone], writes: [claim(FORGOTTEN_INCIDENT)], runId: null };
  }
  const checks = [revisionCheck(keys, first)];
  if (first.status !== 'pending' && first.status !== 'active') {
    const claimedBy = (await records.claimOf(session)) ?? FORGOTTEN_INCIDENT;
    return first.revived_by === revivalId ? { checks, writes: [claim(claimedBy)], runId: null } : null;
  }
  const found = first.incident_id === null ? null : await records.incident(first.incident_id).catch(unreadable);
  const incident = found === 'unreadable' ? null : found;
  const next: AgentSession = {
    ...first,
    status: 'failed',
    end_reason: first.end_reason ?? 'store_forgot',
    ended_at: now,
    revived_by: revivalId,
    rev: first.rev + UNSEEN_CHANGES,
  };
  const left: Write[] =
    first.status === 'pending'
      ? [['LREM', keys.lane(first.lane), '0', firstId]]
      : await leaveLane(context, first, now, checks);
  const writes = [claim(incident?.incident_id ?? FORGOTTEN_INCIDENT), ...sessionWrites(keys, first, next), ...left];
  if (incident !== null) {
    checks.push(...documentChecks(keys.incident(incident.incident_id), incident.rev));
    writes.push(...forkedWrites(context, incident, revivalId, now));
  }
  return { checks, writes: [...writes, wakeWrite(keys, { session: firstId })], runId: first.run?.run_id ?? null };
}

/** The lane may belong to another run by now. */
async function leaveLane({ redis, keys }: StoreContext, first: AgentSession, now: number, checks: Check[]) {
  const holder = keys.laneHolder(first.lane);
  const held = await redis.get(holder);
  checks.push({ read: ['GET', holder], equals: held });
  if (held === first.run?.run_id) return laneReleaseWrites(keys, first, now);
  return [['ZREM', keys.runLeases, first.session_id]] satisfies Write[];
}

/**
 * Its incident continues from the fork that was forgotten; an incident about more than this session sees that the session has
 * ended.
 */
function forkedWrites({ keys }: StoreContext, incident: Incident, revivalId: string, now: number): Write[] {
  const isPlain = incident.subject === undefined && incident.hold === undefined && incident.outcome === null;
  const wake = wakeWrite(keys, { incident: incident.incident_id });
  if (!isPlain || !BEFORE_FORK.includes(incident.step)) return [wake];
  const next: Incident = {
    ...incident,
    step: 'revived',
    revival_session_id: revivalId,
    detected_at: incident.detected_at ?? now,
    rev: incident.rev + UNSEEN_CHANGES,
  };
  return [documentWrite(keys.incident(incident.incident_id), next), wake];
}
