/** Moves records that this version cannot read aside, whole, under their own key. Nothing of them is lost or waits for them. */

import { applyCommit, type Check, type Write } from '../redis/commit.js';
import type { Guard } from './incidentTransitions.js';
import type { AgentSession } from './model.js';
import { newOutboxEntry, newSession } from './newRecords.js';
import { freeLaneWrites, outboxWrites, revisionCheck, sessionWrites, wakeWrite } from './sessionChange.js';
import { StorePart } from './storePart.js';

/** `tg_{project}_{chat}_{message}`, perhaps with a bot before the message; only the project may contain a `_`. */
const TELEGRAM_ID = /^tg_(?<project>.+)_(?<chat>-?\d+)_(?:b\d+_)?(?<message>\d+)(?:_r1)?$/;

/** The known facts about a session with an unreadable record. */
export interface UnreadableSession {
  readonly sessionId: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly lane: string | null;
  readonly holder: string | null;
  readonly waits: boolean;
}

export class Quarantine extends StorePart {
  /** @param inLane the lane that it waits in, if known @returns the readable part; null if there is no record at all */
  async look(sessionId: string, inLane: string | null = null): Promise<UnreadableSession | null> {
    const { redis, keys } = this;
    const fields = await redis.hgetall(keys.session(sessionId));
    if (Object.keys(fields).length === 0) return null;
    const lane = inLane ?? fields.lane ?? null;
    const holder = lane === null ? null : await redis.get(keys.laneHolder(lane));
    const waits = (await redis.zscore(keys.status('pending'), sessionId)) !== null;
    return { sessionId, fields, lane, holder, waits };
  }

  /** @returns the keys of the records that were set aside and still exist, the oldest first */
  async kept(): Promise<string[]> {
    const known = await this.redis.zrange(this.keys.quarantined, '0', '-1');
    const exist = await Promise.all(known.map((key) => this.redis.exists(key)));
    return known.filter((_, at) => exist[at] === 1);
  }

  /** A failed session with `text` takes its place. @param freesLane if its run is over @returns false if it changed first */
  async moveSession(unreadable: UnreadableSession, text: string, freesLane: boolean, guard: Guard): Promise<boolean> {
    const { redis, keys } = this;
    const { sessionId, fields, lane, holder } = unreadable;
    const now = this.clock.now();
    const failed = failedInstead(unreadable, now);
    const hasMessage = (await redis.exists(keys.outbox(sessionId))) === 1;
    const checks: Check[] = [
      ...guard,
      { read: ['HGET', keys.session(sessionId), 'rev'], equals: fields.rev ?? null },
      { read: ['EXISTS', keys.outbox(sessionId)], equals: hasMessage ? '1' : '0' },
    ];
    const writes: Write[] = [
      ['RENAME', keys.session(sessionId), keys.quarantine('session', sessionId)],
      ['PERSIST', keys.quarantine('session', sessionId)],
      ['ZADD', keys.quarantined, String(now), keys.quarantine('session', sessionId)],
      ['ZREM', keys.status('active'), sessionId],
      ['ZREM', keys.status('pending'), sessionId],
      ['ZREM', keys.runLeases, sessionId],
      wakeWrite(keys, { session: sessionId }),
    ];
    if (failed !== null) {
      const delivery = hasMessage ? null : 'queued';
      writes.push(...sessionWrites(keys, null, { ...failed, request: { ...failed.request, delivery } }));
      if (!hasMessage) writes.push(...outboxWrites(keys, newOutboxEntry(failed, 'failure', text, now)));
    }
    if (lane !== null && unreadable.waits) {
      writes.push(['LREM', keys.lane(lane), '0', sessionId], wakeWrite(keys, { lane }));
    }
    if (lane !== null && freesLane) {
      checks.push({ read: ['GET', keys.laneHolder(lane)], equals: holder });
      writes.push(...freeLaneWrites(keys, lane, now));
    }
    return applyCommit(redis, { checks, writes });
  }

  /** @param session to release from the incident, and to judge again @returns false if something changed first */
  async moveIncident(incidentId: string, session: AgentSession | null, guard: Guard): Promise<boolean> {
    const { redis, keys } = this;
    const checks: Check[] = [...guard, { read: ['EXISTS', keys.incident(incidentId)], equals: '1' }];
    const writes: Write[] = [
      ['RENAME', keys.incident(incidentId), keys.quarantine('incident', incidentId)],
      ['PERSIST', keys.quarantine('incident', incidentId)],
      ['ZADD', keys.quarantined, String(this.clock.now()), keys.quarantine('incident', incidentId)],
      ['ZREM', keys.openIncidents, incidentId],
    ];
    if (session !== null) {
      checks.push(revisionCheck(keys, session));
      writes.push(...sessionWrites(keys, session, { ...session, incident_id: null, rev: session.rev + 1 }));
      writes.push(wakeWrite(keys, { session: session.session_id }));
    }
    return applyCommit(redis, { checks, writes });
  }
}

/** @returns the session as failed; null if not even its message is known */
function failedInstead({ sessionId, fields }: UnreadableSession, now: number): AgentSession | null {
  const named = TELEGRAM_ID.exec(sessionId)?.groups;
  const project_key = fields.project_key ?? named?.project;
  const chat_id = fields.chat_id ?? named?.chat;
  const message_id = fields.message_id ?? named?.message;
  if (project_key === undefined || chat_id === undefined || message_id === undefined) return null;
  const draft = {
    session_id: sessionId,
    project_key,
    chat_id,
    message_id,
    thread_id: fields.thread_id ?? null,
    sender: { id: '', name: '' },
    message_text: fields.message_text ?? '',
    conversation_key: fields.conversation_key ?? '',
    lane: fields.lane ?? '',
    working_directory: fields.working_directory ?? '',
    agent: fields.agent ?? '',
  };
  const rev = Number(fields.rev);
  const session = newSession(draft, now);
  return {
    ...session,
    request: { ...session.request, progress_message_id: fields.progress_message_id ?? null },
    status: 'failed',
    attempt: sessionId.endsWith('_r1') ? 2 : 1,
    ended_at: now,
    end_reason: 'record_unreadable',
    rev: Number.isSafeInteger(rev) ? rev + 1 : 1,
  };
}
