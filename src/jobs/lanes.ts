/** The lanes: the list of sessions that wait in each, and those that are blocked by a run that could not be proven dead. */
import type { CorruptRecordError } from '../errors.js';
import { parseObject } from '../json.js';
import { applyCommit, type Check, documentChecks, type Write } from '../redis/commit.js';
import { Script } from '../redis/script.js';
import type { Keys } from './keys.js';
import type { AgentSession, BlockedLane, DeathProof } from './model.js';
import { hostOfLane } from './names.js';
import { changeSession, freeLaneWrites, type WakeOption, wakeWrite } from './sessionChange.js';
import { readSession } from './sessionCodec.js';
import { type StoreContext, StorePart } from './storePart.js';

/*
 * Purpose: find the session that may start in a lane now, and read it atomically. Read-only.
 * KEYS: the lane's list; its holder.
 * ARGV: the prefix of the key of a session's record.
 * Returns: nothing if a run holds the lane or no session waits; otherwise the id of the head and the fields of its record, as a
 * JSON array of names and values in turn.
 */
const HEAD_SCRIPT = new Script(`
if redis.call('EXISTS', KEYS[2]) == 1 then return {} end
local head = redis.call('LINDEX', KEYS[1], 0)
if not head then return {} end
return { head, cjson.encode(redis.call('HGETALL', ARGV[1] .. head)) }
`);

export interface LaneHead {
  readonly sessionId: string;
  /** Null if it has no record. */
  readonly session: AgentSession | CorruptRecordError | null;
}

export class Lanes extends StorePart {
  /** @returns the session that may start in the lane now; null if a run holds the lane, or none waits */
  async head(lane: string): Promise<LaneHead | null> {
    const { redis, keys } = this;
    const keysOfLane = [keys.lane(lane), keys.laneHolder(lane)];
    const [sessionId, fields] = (await HEAD_SCRIPT.run(redis, keysOfLane, [keys.session('')])) as [string?, string?];
    if (sessionId === undefined || fields === undefined) return null;
    return { sessionId, session: readSession(fieldsOf(fields)) };
  }

  /** Removes a session that is no longer pending from its lane's list. */
  async drop(lane: string, sessionId: string): Promise<void> {
    const { redis, keys, records } = this.context;
    const session = await records.session(sessionId);
    if (session?.status === 'pending') return;
    await applyCommit(redis, {
      checks: documentChecks(keys.session(sessionId), session?.rev ?? null),
      writes: [['LREM', keys.lane(lane), '0', sessionId], wakeWrite(keys, { lane })],
    });
  }

  /** @param fence a further condition @returns null if it no longer waits, a run holds its lane, or the fence does not hold */
  async moveTo(
    session: AgentSession,
    lane: string,
    workingDirectory: string,
    fence: readonly Check[],
  ): Promise<AgentSession | null> {
    if (session.status !== 'pending') return null;
    const next = { ...session, lane };
    const place = await placeInLane(this.context, next);
    const moved = await changeSession(this.context, session, {
      patch: { lane, working_directory: workingDirectory },
      checks: [...fence, { read: ['GET', this.keys.laneHolder(session.lane)], equals: null }],
      writes: [
        ['LREM', this.keys.lane(session.lane), '0', session.session_id],
        ...laneEntryWrites(this.context, next, place),
      ],
    });
    return moved?.session ?? null;
  }

  /** Removes a lane from its host's list once no session waits in it and no run holds it. */
  async forgetEmpty(lane: string): Promise<void> {
    const { redis, keys } = this;
    await applyCommit(redis, {
      checks: [
        { read: ['LLEN', keys.lane(lane)], equals: '0' },
        { read: ['GET', keys.laneHolder(lane)], equals: null },
      ],
      writes: [
        ['SREM', keys.lanes(hostOfLane(lane)), lane],
        ['DEL', keys.laneFree(lane)],
      ],
    });
  }
}

/** Lanes whose last run could not be proven dead: they stay held until it is. */
export class BlockedLanes extends StorePart {
  /** @returns all of them; if one is unreadable, only its lane and holder are known */
  async all(): Promise<BlockedLane[]> {
    const { redis, keys } = this;
    const found = await redis.hgetall(keys.blockedLanes);
    const unknown = async (lane: string) => withoutRecord(lane, (await redis.get(keys.laneHolder(lane))) ?? '');
    return Promise.all(Object.entries(found).map(([lane, text]) => readBlocked(text) ?? unknown(lane)));
  }

  async noteReported(blocked: BlockedLane, guard: readonly Check[]): Promise<boolean> {
    const { redis, keys } = this;
    const isHeld: Check = { read: ['GET', keys.laneHolder(blocked.lane)], equals: blocked.run_id };
    return applyCommit(redis, {
      checks: [...guard, isHeld],
      writes: [blockWrite(keys, { ...blocked, is_told: true })],
    });
  }

  /** @returns whether the lane is no longer blocked; false if its holder changed in the same instant */
  async free(blocked: BlockedLane, proof: DeathProof, guard: readonly Check[]): Promise<boolean> {
    const { redis, keys } = this;
    if (proof.run_id !== blocked.run_id) return false;
    const { lane, session_id } = blocked;
    const current = await redis.get(keys.laneHolder(lane));
    const writes: Write[] = [['HDEL', keys.blockedLanes, lane]];
    if (session_id !== null) writes.push(['ZREM', keys.runLeases, session_id]);
    if (current === blocked.run_id) writes.push(...freeLaneWrites(keys, lane, this.clock.now()));
    const checks: Check[] = [...guard, { read: ['GET', keys.laneHolder(lane)], equals: current }];
    return applyCommit(redis, { checks, writes });
  }
}

/** @param place at the end, at the head, or before another @param options as in {@link laneReleaseWrites} */
export function laneEntryWrites(
  { keys }: StoreContext,
  session: AgentSession,
  place: LanePlace,
  { wakes = true }: WakeOption = {},
): Write[] {
  const list = keys.lane(session.lane);
  const id = session.session_id;
  const entry: Write[] = [
    typeof place === 'string' ? [place, list, id] : ['LINSERT', list, 'BEFORE', place.before, id],
    ['SADD', keys.lanes(hostOfLane(session.lane)), session.lane],
    ['SADD', keys.hosts, hostOfLane(session.lane)],
  ];
  return !wakes ? entry : [...entry, wakeWrite(keys, { lane: session.lane })];
}

export type LanePlace = 'RPUSH' | 'LPUSH' | { readonly before: string };

/** @returns whether it was at the head of its lane before: a second attempt, or an interrupted session */
export function goesFirst({ attempt, interruptions }: AgentSession): boolean {
  return attempt === 2 || interruptions > 0;
}

/** @returns where a pending session belongs: first if it was at the head before, else in the order of acceptance */
export async function placeInLane({ redis, keys, records }: StoreContext, session: AgentSession): Promise<LanePlace> {
  if (goesFirst(session)) return 'LPUSH';
  for (const other of await records.sessions(await redis.lrange(keys.lane(session.lane), 0, -1))) {
    if (other instanceof Error || goesFirst(other)) continue;
    if (other.created_at > session.created_at) return { before: other.session_id };
  }
  return 'RPUSH';
}

/** @returns the writes that end a session whose run is not proven dead: its lane stays held */
export function laneBlockWrites(keys: Keys, session: AgentSession, now: number): Write[] {
  const { lane, run, session_id, project_key } = session;
  const blocked = { lane, run_id: run?.run_id ?? '', run, session_id, project_key, since: now, is_told: false };
  return [blockWrite(keys, blocked)];
}

export function withoutRecord(lane: string, runId: string): BlockedLane {
  return { lane, run_id: runId, run: null, session_id: null, project_key: null, since: 0, is_told: false };
}

export function blockWrite(keys: Keys, blocked: BlockedLane): Write {
  return ['HSET', keys.blockedLanes, blocked.lane, JSON.stringify(blocked)];
}

function readBlocked(text: string): BlockedLane | null {
  const found = parseObject<BlockedLane>(text);
  return typeof found?.lane === 'string' && typeof found.run_id === 'string' ? (found as BlockedLane) : null;
}

/** An empty table of Lua is an object in JSON. */
function fieldsOf(json: string): Record<string, string> {
  const flat: unknown = JSON.parse(json);
  const fields: Record<string, string> = {};
  if (!Array.isArray(flat)) return fields;
  for (let at = 0; at + 1 < flat.length; at += 2) fields[String(flat[at])] = String(flat[at + 1]);
  return fields;
}
