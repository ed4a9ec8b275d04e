/**
 * Removes old records. Redis does not expire them by itself: it cannot know whether an open incident, an undelivered message or
 * a revival still needs them. Every removal is a commit of the acting watchdog, and each call removes a bounded number.
 */
import { unreadable } from '../errors.js';
import { applyCommit, type Check, documentChecks, type Write } from '../redis/commit.js';
import type { Guard } from './incidentTransitions.js';
import { type AgentSession, isDelivered } from './model.js';
import { messageOf } from './names.js';
import { StorePart } from './storePart.js';
import { missing } from './straySessions.js';

const SCAN_COUNT = 1_000;

export interface ExpiredSession {
  readonly sessionId: string;
  /** Null if another process has deleted the record. */
  readonly session: AgentSession | null;
}

export class Expiry extends StorePart {
  /**
   * @param before an instant in epoch milliseconds
   * @param from how many of the oldest to skip
   * @param most how many to check
   * @returns the sessions that ended before that instant and that nothing needs any more (no open incident, no undelivered
   *   message, no unfinished revival), and how many were checked
   */
  async endedSessions(before: number, from: number, most: number) {
    const { redis, keys, records } = this.context;
    const ids = await redis.zrangebyscore(keys.status('ended'), '-inf', `(${before}`, 'LIMIT', from, most);
    const expired: ExpiredSession[] = [];
    for (const sessionId of ids) {
      const [session] = await records.sessions([sessionId]);
      if (session instanceof Error) continue;
      if (session === undefined || (await this.#isOver(session))) expired.push({ sessionId, session: session ?? null });
    }
    return { expired, looked: ids.length };
  }

  /** @returns whether it was removed; false if it changed first */
  async removeSession({ sessionId, session }: ExpiredSession, guard: Guard): Promise<boolean> {
    const { redis, keys } = this;
    const checks: Check[] = [...guard, ...documentChecks(keys.session(sessionId), session?.rev ?? null)];
    const writes: Write[] = [
      ['ZREM', keys.status('ended'), sessionId],
      ['ZREM', keys.outboxDue, sessionId],
      ['DEL', keys.outbox(sessionId), keys.session(sessionId)],
    ];
    if (session !== null) {
      const message = keys.message(...messageOf(session));
      const [first, revival] = await redis.hmget(message, 'session_id', 'revival_id');
      checks.push({ read: ['HGET', message, 'revival_id'], equals: revival ?? null });
      // The message's record is kept as long as the last session that worked on it.
      if ((revival ?? first) === sessionId) writes.push(['DEL', message]);
    }
    return applyCommit(redis, { checks, writes });
  }

  /** Only if their sessions are gone: a waiting revival's prompt is made from one. Checks `most` of them behind `from`. */
  async removeIncidents(before: number, from: number, most: number, guard: Guard) {
    const { redis, keys } = this;
    const ids = await redis.zrangebyscore(keys.closedIncidents, '-inf', `(${before}`, 'LIMIT', from, most);
    const over: string[] = [];
    for (const id of ids) if (await this.#isForgotten(id)) over.push(id);
    if (over.length === 0) return { removed: 0, looked: ids.length };
    const writes: Write[] = over.flatMap((id) => [
      ['ZREM', keys.closedIncidents, id] as const,
      ['DEL', keys.incident(id)] as const,
    ]);
    const isDone = await applyCommit(redis, { checks: guard, writes });
    return { removed: isDone ? over.length : 0, looked: ids.length };
  }

  unknownAmong(sessionIds: readonly string[]): Promise<string[]> {
    return missing(this.redis, sessionIds, this.keys.session);
  }

  /** As Redis' SCAN: cursor `0` begins, and ends. */
  async issueFingerprints(cursor: string): Promise<{ fingerprints: string[]; next: string }> {
    const [next, found] = await this.redis.scan(cursor, 'MATCH', this.keys.issue('*'), 'COUNT', SCAN_COUNT);
    return { fingerprints: found.map((key) => key.slice(this.keys.issue('').length)), next };
  }

  async #isForgotten(incidentId: string): Promise<boolean> {
    const { redis, keys, records } = this.context;
    const incident = await records.incident(incidentId).catch(unreadable);
    // Nothing is known of an unreadable record.
    if (incident === 'unreadable') return false;
    return incident === null || (await redis.exists(keys.session(incident.session_id))) === 0;
  }

  async #isOver(session: AgentSession): Promise<boolean> {
    const { delivery } = session.request;
    if (session.incident_id !== null || (delivery !== null && !isDelivered(delivery))) return false;
    if (session.revived_by === null) return true;
    const [revival] = await this.context.records.sessions([session.revived_by]);
    return revival === undefined || (!(revival instanceof Error) && revival.ended_at !== null);
  }
}
