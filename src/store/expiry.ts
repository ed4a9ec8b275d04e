/**
 * Takes out what is over for long: Redis forgets ended records by itself, but not their ids in the indexes, and a record
 * must not go before its journal. Every removal is a commit of the acting watchdog, and each call takes a bounded number.
 */
import type { AgentSession } from '../model.js';
import { applyCommit, type Check, type Write } from './commit.js';
import type { Guard } from './incidentTransitions.js';
import { revisionCheck, type StoreContext } from './sessionChange.js';

const SCAN_COUNT = 1_000;
const FINISHED_DELIVERY: readonly (string | null)[] = [null, 'sent', 'unknown', 'given_up'];

/** A session whose time is over. */
export interface ExpiredSession {
  readonly sessionId: string;
  /** Null where Redis has forgotten the record already. */
  readonly session: AgentSession | null;
}

export class Expiry {
  private readonly context: StoreContext;

  constructor(context: StoreContext) {
    this.context = context;
  }

  /**
   * @param before an instant in epoch milliseconds
   * @param from how many of the oldest are passed over
   * @param most how many are looked at
   * @returns sessions that ended before it and that nothing under way needs any more: no open incident, no message on its
   *   way, no revival that is still to end; and how many were looked at
   */
  async endedSessions(
    before: number,
    from: number,
    most: number,
  ): Promise<{ expired: ExpiredSession[]; looked: number }> {
    const { redis, keys, records } = this.context;
    const ids = await redis.zrangebyscore(keys.status('ended'), '-inf', `(${before}`, 'LIMIT', from, most);
    const expired: ExpiredSession[] = [];
    for (const sessionId of ids) {
      const [session] = await records.sessions([sessionId]);
      if (session instanceof Error) continue;
      if (session === undefined || (await this.isOver(session))) expired.push({ sessionId, session: session ?? null });
    }
    return { expired, looked: ids.length };
  }

  /** @returns whether it is gone; false where it changed meanwhile */
  async removeSession({ sessionId, session }: ExpiredSession, guard: Guard): Promise<boolean> {
    const { redis, keys } = this.context;
    const checks: Check[] = [...guard];
    const writes: Write[] = [
      ['ZREM', keys.status('ended'), sessionId],
      ['ZREM', keys.outboxDue, sessionId],
      ['DEL', keys.outbox(sessionId)],
    ];
    if (session === null) checks.push({ read: ['EXISTS', keys.session(sessionId)], equals: '0' });
    else {
      checks.push(revisionCheck(keys, session));
      writes.push(['DEL', keys.session(sessionId)]);
      const message = keys.message(session.project_key, session.chat_id, session.message_id);
      const [first, revival] = await redis.hmget(message, 'session_id', 'revival_id');
      checks.push({ read: ['HGET', message, 'revival_id'], equals: revival ?? null });
      // The message is known as long as the last session that worked on it is.
      if ((revival ?? first) === sessionId) writes.push(['DEL', message]);
    }
    return applyCommit(redis, { checks, writes });
  }

  /** @returns how many incidents that closed before the instant (epoch ms) were removed; at most `most` */
  async removeIncidents(before: number, most: number, guard: Guard): Promise<number> {
    const { redis, keys } = this.context;
    const ids = await redis.zrangebyscore(keys.closedIncidents, '-inf', `(${before}`, 'LIMIT', 0, most);
    if (ids.length === 0) return 0;
    const writes: Write[] = ids.flatMap((id) => [
      ['ZREM', keys.closedIncidents, id] as const,
      ['DEL', keys.incident(id)] as const,
    ]);
    return (await applyCommit(redis, { checks: guard, writes })) ? ids.length : 0;
  }

  /** @returns those of the ids that no session has, in any state */
  async unknownAmong(sessionIds: readonly string[]): Promise<string[]> {
    const { redis, keys } = this.context;
    const pipeline = redis.pipeline();
    for (const id of sessionIds) pipeline.exists(keys.session(id));
    const answers = (await pipeline.exec()) ?? [];
    return sessionIds.filter((_, index) => {
      const [error, exists] = answers[index] ?? [];
      if (error) throw error;
      return exists === 0;
    });
  }

  /**
   * A part of the issue records, see Redis' SCAN.
   * @param cursor `0` begins
   * @returns fingerprints, and the cursor of the next part; `0` after the last one
   */
  async issueFingerprints(cursor: string): Promise<{ fingerprints: string[]; next: string }> {
    const { redis, keys } = this.context;
    const [next, found] = await redis.scan(cursor, 'MATCH', keys.issue('*'), 'COUNT', SCAN_COUNT);
    return { fingerprints: found.map((key) => key.slice(keys.issue('').length)), next };
  }

  private async isOver(session: AgentSession): Promise<boolean> {
    if (session.incident_id !== null || !FINISHED_DELIVERY.includes(session.delivery)) return false;
    if (session.revived_by === null) return true;
    const [revival] = await this.context.records.sessions([session.revived_by]);
    return revival === undefined || (!(revival instanceof Error) && revival.ended_at !== null);
  }
}
