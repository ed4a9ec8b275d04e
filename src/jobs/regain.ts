/**
 * Stores records again that Redis has lost and a bridge still knows. No other code makes a session without a person's message.
 * Each call is one commit that checks that there is no record; for a second attempt, it settles the first one, too. A process
 * that comes second changes nothing and reads again.
 */

import { unreadable } from '../errors.js';
import {
  applyCommit,
  type Check,
  type CheckedWrites,
  documentChecks,
  documentWrite,
  type Write,
} from '../redis/commit.js';
import type { Incident, IncidentStep } from './incidents.js';
import { laneEntryWrites, placeInLane } from './lanes.js';
import type { AgentSession, Run } from './model.js';
import { messageOf } from './names.js';
import { newOutboxEntry } from './newRecords.js';
import { laneReleaseWrites, outboxWrites, patched, revisionCheck, sessionWrites, wakeWrite } from './sessionChange.js';
import { endPatch, type KnownEnd } from './sessionEnds.js';
import { type StoreContext, StorePart } from './storePart.js';

/** Replaces an incident that is gone: the message's one revival is used. */
const FORGOTTEN_INCIDENT = 'forgotten';
/** More changes than a process that stores a record again can have missed: none takes it for the one it has read. */
const UNSEEN_CHANGES = 1_000;
const BEFORE_FORK: readonly IncidentStep[] = ['opened', 'detected', 'stopping', 'released'];

export class Regain extends StorePart {
  /** @returns whether there is no record of the session, and none was set aside */
  async isMissing(sessionId: string): Promise<boolean> {
    return (await this.redis.exists(this.keys.session(sessionId), this.keys.quarantine('session', sessionId))) === 0;
  }

  /** @returns whether a waiting session was stored at its place; false if there is a record, or its message has its end */
  async waiting(session: AgentSession): Promise<boolean> {
    const next: AgentSession = { ...renewed(session), status: 'pending', run: null, started_at: null };
    const place = await placeInLane(this.context, next);
    return this.#store(next, () => ({ checks: [], writes: laneEntryWrites(this.context, next, place) }));
  }

  /** Stores a session whose run is active, or has just ended. */
  async active(session: AgentSession, run: Run, leaseMs: number): Promise<boolean> {
    const { redis, keys } = this;
    const holder = keys.laneHolder(session.lane);
    const held = await redis.get(holder);
    const now = this.clock.now();
    const next: AgentSession = { ...renewed(session), status: 'active', run, last_activity: now };
    // As if it entered and left the list at once, so that its lane is among those of its host.
    const entry = laneEntryWrites(this.context, next, 'RPUSH', { wakes: false });
    const { conversation_id: conversation } = next;
    const key = keys.conversation(next.conversation_key, run.owner.host);
    const known: Write[] = conversation === null ? [] : [['SET', key, conversation]];
    return this.#store(next, (ofFirst) => {
      if (held !== null && held !== run.run_id && held !== ofFirst) return null;
      return {
        checks: [{ read: ['GET', holder], equals: held }],
        writes: [
          ...entry,
          ['LREM', keys.lane(next.lane), '0', next.session_id],
          ['SET', holder, run.run_id],
          ['ZADD', keys.runLeases, String(now + leaseMs), next.session_id],
          ...known,
        ],
      };
    });
  }

  /** @param before called just before it is stored @returns false if there is a record, or its message has its end */
  async ended(session: AgentSession, known: KnownEnd, before?: () => Promise<void>): Promise<boolean> {
    const now = this.clock.now();
    const end = endPatch(known);
    const next = patched(renewed(session), { ...end, ended_at: session.ended_at ?? now });
    const entry = { ...newOutboxEntry(next, known.kind, known.text, now), state: end.request.delivery };
    const exists: Check = { read: ['EXISTS', this.keys.outbox(next.session_id)], equals: '0' };
    return this.#store(next, () => ({ checks: [exists], writes: outboxWrites(this.keys, entry) }), before);
  }

  /** @param more given the run of its first attempt, which may hold the lane; nothing is stored if it returns null */
  async #store(
    next: AgentSession,
    more: (ofFirst: string | null) => CheckedWrites | null,
    before?: () => Promise<void>,
  ): Promise<boolean> {
    const { redis, keys } = this;
    const { session_id } = next;
    const message = keys.message(...messageOf(next));
    const first = await settleFirst(this.context, next);
    const own = first === null ? null : more(first.runId);
    if (first === null || own === null) return false;
    await before?.();
    return applyCommit(redis, {
      at: 'regain',
      checks: [
        { read: ['EXISTS', keys.session(session_id)], equals: '0' },
        { read: ['EXISTS', keys.quarantine('session', session_id)], equals: '0' },
        ...first.checks,
        ...own.checks,
      ],
      writes: [
        ['HSET', message, 'session_id', next.revival_of ?? session_id],
        ...first.writes,
        ...sessionWrites(keys, null, next),
        ...own.writes,
        wakeWrite(keys, { session: session_id }),
      ],
    });
  }
}

/** Requests of others to it are lost with the record. */
function renewed(session: AgentSession): AgentSession {
  return { ...session, stop: null, released: null, incident_id: null, rev: session.rev + UNSEEN_CHANGES };
}

/** The checks and writes on the first attempt for a commit that stores its second attempt again. */
interface SettledFirst extends CheckedWrites {
  /** The first attempt's run; it is proven dead, because a second attempt was granted. Null if none is known. */
  readonly runId: string | null;
}

/** Settles a first attempt in the commit that stores its second: there is one end. @returns null if it has ended otherwise */
async function settleFirst(context: StoreContext, session: AgentSession): Promise<SettledFirst | null> {
  const { session_id: revivalId, revival_of: firstId } = session;
  if (firstId === null) return { checks: [], writes: [], runId: null };
  const { keys, records } = context;
  const now = context.clock.now();
  const first = await records.session(firstId).catch(unreadable);
  const message = keys.message(...messageOf(session));
  const claim = (by: string): Write => ['HSET', message, 'claimed_by', by, 'revival_id', revivalId];
  if (first === null || first === 'unreadable') {
    // Unreadable records are set aside elsewhere; facts about the second attempt must not wait for that.
    const checks: Check[] = first === null ? [{ read: ['EXISTS', keys.session(firstId)], equals: '0' }] : [];
    return { checks, writes: [claim(FORGOTTEN_INCIDENT)], runId: null };
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

/** Its incident continues from the forgotten fork; one about more than this session sees that the session has ended. */
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
