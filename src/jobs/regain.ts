/**
 * Stores records again that Redis has lost and a bridge still knows. No other code makes a session without a person's message.
 * Each call is one commit that checks that there is no record; for a second attempt, it settles the first one, too. A process
 * that comes second changes nothing and reads again.
 */

import { applyCommit, type Check, type CheckedWrites, type Write } from '../redis/commit.js';
import { settleFirst, UNSEEN_CHANGES } from './firstAttempt.js';
import { laneEntryWrites } from './lanes.js';
import type { AgentSession, Run } from './model.js';
import { newOutboxEntry } from './newRecords.js';
import { outboxWrites, patched, sessionWrites, wakeWrite } from './sessionChange.js';
import { endPatch, type KnownEnd } from './sessionEnds.js';
import { StorePart } from './storePart.js';

export class Regain extends StorePart {
  /** @returns whether there is no record of the session, and none was set aside */
  async isMissing(sessionId: string): Promise<boolean> {
    return (await this.redis.exists(this.keys.session(sessionId), this.keys.quarantine('session', sessionId))) === 0;
  }

  /**
   * Stores a waiting session, at the end of its lane; a second attempt at the lane's head.
   * @param session as last known
   * @returns whether it was stored; false if there is a record, or its message has its end
   */
  async waiting(session: AgentSession): Promise<boolean> {
    const next: AgentSession = { ...renewed(session), status: 'pending', run: null, started_at: null };
    const place = next.attempt === 2 ? 'LPUSH' : 'RPUSH';
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

  /**
   * Stores a session that has ended, with its final message.
   * @param before called just before it is stored, if it can be
   * @returns whether it was stored; false if there is a record, or its message has its end
   */
  async ended(session: AgentSession, known: KnownEnd, before?: () => Promise<void>): Promise<boolean> {
    const now = this.clock.now();
    const end = endPatch(known);
    const next = patched(renewed(session), { ...end, ended_at: session.ended_at ?? now });
    const entry = { ...newOutboxEntry(next, known.kind, known.text, now), state: end.request.delivery };
    const exists: Check = { read: ['EXISTS', this.keys.outbox(next.session_id)], equals: '0' };
    return this.#store(next, () => ({ checks: [exists], writes: outboxWrites(this.keys, entry) }), before);
  }

  /**
   * @param more given the run of its first attempt, which may hold the lane in this store; if it returns null, nothing is
   *   stored
   */
  async #store(
    next: AgentSession,
    more: (ofFirst: string | null) => CheckedWrites | null,
    before?: () => Promise<void>,
  ): Promise<boolean> {
    const { redis, keys } = this;
    const { session_id, request } = next;
    const message = keys.message(next.project_key, request.chat_id, request.message_id);
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
