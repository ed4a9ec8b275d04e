/** The list of sessions that wait in a lane: adding one, finding the next one, removing one or moving it to another lane. */
import type { CorruptRecordError } from '../errors.js';
import { applyCommit, type Check, documentChecks, type Write } from '../redis/commit.js';
import { Script } from '../redis/script.js';
import type { AgentSession } from './model.js';
import { hostOfLane } from './names.js';
import { changeSession, type WakeOption, wakeWrite } from './sessionChange.js';
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
  /** Null: it has no record. */
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

  /**
   * Moves a waiting session to the end of a lane of another host.
   * @param fence a further condition
   * @returns null if it no longer waits, a run holds its lane, or the fence does not hold
   */
  async moveTo(
    session: AgentSession,
    lane: string,
    workingDirectory: string,
    fence: readonly Check[],
  ): Promise<AgentSession | null> {
    if (session.status !== 'pending') return null;
    return changeSession(this.context, session, {
      patch: { lane, working_directory: workingDirectory },
      checks: [...fence, { read: ['GET', this.keys.laneHolder(session.lane)], equals: null }],
      writes: [
        ['LREM', this.keys.lane(session.lane), '0', session.session_id],
        ...laneEntryWrites(this.context, { ...session, lane }, 'RPUSH'),
      ],
    });
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

/**
 * @param place at the end, at the head, or before another session
 * @param options as in {@link laneReleaseWrites}
 * @returns the writes that put a pending session into its lane
 */
export function laneEntryWrites(
  { keys }: StoreContext,
  session: AgentSession,
  place: 'RPUSH' | 'LPUSH' | { readonly before: string },
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

/** An empty table of Lua is an object in JSON. */
function fieldsOf(json: string): Record<string, string> {
  const flat: unknown = JSON.parse(json);
  const fields: Record<string, string> = {};
  if (!Array.isArray(flat)) return fields;
  for (let at = 0; at + 1 < flat.length; at += 2) fields[String(flat[at])] = String(flat[at + 1]);
  return fields;
}
