/** The common part of every transition of a session: the compare-and-set on `rev`, and the indexes that follow it. */

import { ConflictError } from '../errors.js';
import { applyAndRead, type Check, type Commit, documentWrite, type Write } from '../redis/commit.js';
import { DAY } from '../time.js';
import type { Keys } from './keys.js';
import type { AgentSession, ChatRequest, OutboxEntry, Session, SessionStatus } from './model.js';
import { encodeChanges } from './sessionCodec.js';
import type { StoreContext } from './storePart.js';
import type { Wake } from './wakes.js';

/** How long ended sessions, their messages, journals and jobs are kept. */
export const ENDED_KEPT_MS = 30 * DAY;

/** Changes by other processes between reading and writing that are worth another try. */
const MOST_TRIES = 20;

export type SessionPatch = Partial<Session> & { readonly request?: Partial<ChatRequest> };

/** Checks, writes and reads besides those of the session's own record. */
export interface Change extends Partial<Commit> {
  readonly patch: SessionPatch;
}

export interface WakeOption {
  /** False if the lane's bridge checks it without a wake. */
  readonly wakes?: boolean;
}

export interface ChangedSession {
  readonly session: AgentSession;
  readonly found: readonly (string | null)[];
}

/** @returns null if another process changed the session first, or a further check did not hold */
export async function changeSession(
  { redis, keys }: StoreContext,
  session: AgentSession,
  change: Change,
): Promise<ChangedSession | null> {
  const next = patched(session, { ...change.patch, rev: session.rev + 1 });
  const found = await applyAndRead(redis, {
    at: change.at,
    checks: [revisionCheck(keys, session), ...(change.checks ?? [])],
    writes: [...sessionWrites(keys, session, next), ...(change.writes ?? [])],
    reads: change.reads ?? [],
  });
  return found === null ? null : { session: next, found };
}

/** @returns the session with the patch, `request` merged as well */
export function patched(session: AgentSession, patch: SessionPatch): AgentSession {
  const request = patch.request === undefined ? session.request : { ...session.request, ...patch.request };
  // In two steps: V8 takes several times as long for one literal that begins with two spreads.
  return Object.assign({ ...session }, patch, { request });
}

/**
 * Reads, lets `decide` choose, and writes; tries again if another process was faster.
 * @param decide returns null if the change is not wanted in this state
 * @param known the record as last seen, tried first without reading; null to read it
 * @returns null if there is no session, `decide` did not want the change, or a further check of the change did not hold although
 *   the record was unchanged
 * @throws ConflictError if the record kept changing
 */
export async function updateSession(
  context: StoreContext,
  sessionId: string,
  decide: (session: AgentSession) => Change | null,
  known: AgentSession | null = null,
): Promise<ChangedSession | null> {
  let refusedAt: number | null = null;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const isKnown = tries === 0 && known !== null;
    const session = isKnown ? known : await context.records.session(sessionId);
    const change = session === null || session.rev === refusedAt ? null : decide(session);
    if (isKnown && change === null) continue;
    if (session === null || change === null) return null;
    const changed = await changeSession(context, session, change);
    if (changed !== null) return changed;
    refusedAt = session.rev;
  }
  throw new ConflictError(
    `session ${sessionId}: the record changed under every one of ${MOST_TRIES} attempts to write it`,
  );
}

export function revisionCheck(keys: Keys, session: AgentSession): Check {
  return { read: ['HGET', keys.session(session.session_id), 'rev'], equals: String(session.rev) };
}

/** Refuses a run's own writes once the lane is no longer its own: a lane is held by a run, not by a session. */
export function holderCheck(keys: Keys, session: AgentSession): Check {
  return { read: ['GET', keys.laneHolder(session.lane)], equals: session.run?.run_id ?? null };
}

/** @returns the writes that take a record from `previous` (null if it is new) to `next`, including its indexes */
export function sessionWrites(keys: Keys, previous: AgentSession | null, next: AgentSession): Write[] {
  const key = keys.session(next.session_id);
  const { set, unset } = encodeChanges(previous, next);
  const writes: Write[] = [['HSET', key, ...set]];
  if (unset.length > 0) writes.push(['HDEL', key, ...unset]);
  const from = previous === null ? null : statusIndexOf(previous.status);
  const to = statusIndexOf(next.status);
  if (from !== null && from !== to) writes.push(['ZREM', keys.status(from), next.session_id]);
  if (from !== to || to === 'active') writes.push(sessionIndexWrite(keys, next));
  return writes;
}

export function sessionIndexWrite(keys: Keys, session: AgentSession): Write {
  return ['ZADD', keys.status(statusIndexOf(session.status)), String(indexScore(session)), session.session_id];
}

/** @param now UTC epoch milliseconds @param options by default the lane's bridge is woken, to start the next head */
export function laneReleaseWrites(keys: Keys, session: AgentSession, now: number, options: WakeOption = {}): Write[] {
  const { lane, session_id } = session;
  return [...freeLaneWrites(keys, lane, now, options), ['ZREM', keys.runLeases, session_id]];
}

/** @returns the writes that remove a lane's holder; `options` as in {@link laneReleaseWrites} */
export function freeLaneWrites(keys: Keys, lane: string, now: number, { wakes = true }: WakeOption = {}): Write[] {
  const freed: Write[] = [
    ['DEL', keys.laneHolder(lane)],
    ['SET', keys.laneFree(lane), String(now)],
  ];
  return !wakes ? freed : [...freed, wakeWrite(keys, { lane })];
}

/** @returns the writes that queue a final message, in the same commit as the end that it reports */
export function outboxWrites(keys: Keys, entry: OutboxEntry): Write[] {
  const key = keys.outbox(entry.session_id);
  return [
    documentWrite(key, entry),
    ['ZADD', keys.outboxDue, String(entry.due_at), entry.session_id],
    wakeWrite(keys, { outbox: entry.session_id }),
  ];
}

export function wakeWrite(keys: Keys, wake: Wake): Write {
  return { channel: keys.wakeChannel, wake };
}

export function statusIndexOf(status: SessionStatus): 'pending' | 'active' | 'ended' {
  return status === 'pending' || status === 'active' ? status : 'ended';
}

function indexScore(session: AgentSession): number {
  if (session.status === 'active') return session.rev;
  return session.ended_at ?? session.created_at;
}
