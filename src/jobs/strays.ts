/**
 * Records that nothing would ever bring to an end, because a crash of Redis, a manual change or a fault of ours removed their
 * counterpart. Every state has one owner; a stray is a record that its owner cannot find. Each round checks a bounded part of the
 * records, so that it is short, and the next one continues.
 */

import { unreadable } from '../errors.js';
import { parseObject } from '../json.js';
import { applyCommit, type Check, documentChecks } from '../redis/commit.js';
import { BlockedLanes, blockWrite, withoutRecord } from './lanes.js';
import { isDelivered, type Run } from './model.js';
import { hostOfLane } from './names.js';
import { StorePart } from './storePart.js';
import { type FinalTexts, namesWithoutRecord, type Stray, straysOfSession } from './straySessions.js';

const SCAN_COUNT = 500;
const MOST_SCANS = 4;
const MOST_NAMES = 500;
/** Sessions that are looked at together. */
const AT_ONCE = 500;

export class Strays extends StorePart {
  readonly #blockedLanes = new BlockedLanes(this.context);
  /** Holders of lanes that no active session named at the last check: the session may have been in a wrong index then. */
  readonly #seenHolders = new Map<string, string>();
  #cursor = '0';
  #unread: string[] = [];

  /** Checks the next part of the records. @param texts sent if a final message was lost before it was sent */
  async find(runLeaseMs: number, texts: FinalTexts): Promise<Stray[]> {
    const found = [...(await namesWithoutRecord(this.context, MOST_NAMES)), ...(await this.#leasesWithoutRun())];
    const held: string[] = [];
    this.#unread = [];
    for (let scans = 0; scans < MOST_SCANS; scans += 1) {
      const [next, part] = await this.redis.scan(this.#cursor, 'MATCH', this.keys.pattern, 'COUNT', SCAN_COUNT);
      this.#cursor = next;
      found.push(...(await this.#among(part, runLeaseMs, texts)));
      held.push(...idsIn(part, this.keys.laneHolder('')));
      if (next === '0') break;
    }
    return [...found, ...(await this.#lanesOfUnknownRuns(held))];
  }

  /** The sessions whose records could not be read at the last check. */
  get unread(): readonly string[] {
    return this.#unread;
  }

  /** @returns whether it is fixed; false if it is no longer a stray */
  mend({ checks, writes }: Stray, guard: readonly Check[]): Promise<boolean> {
    return applyCommit(this.redis, { checks: [...guard, ...checks], writes });
  }

  async #among(part: readonly string[], runLeaseMs: number, texts: FinalTexts): Promise<Stray[]> {
    const { keys } = this;
    const ids = idsIn(part, keys.session(''));
    const sessions = await this.context.records.sessions(ids);
    const readable = new Set(sessions.map((session) => (session instanceof Error ? null : session.session_id)));
    this.#unread.push(...ids.filter((id) => !readable.has(id)));
    const found = await Promise.all([
      ...sessions.map((session) =>
        session instanceof Error ? [] : straysOfSession(this.context, session, runLeaseMs, texts),
      ),
      ...idsIn(part, keys.incident('')).map((id) => this.#ofIncident(id)),
      ...idsIn(part, keys.outbox('')).map((id) => this.#ofMessage(id)),
      ...idsIn(part, keys.lane('')).map((lane) => this.#ofLane(lane)),
    ]);
    return found.flat().filter((stray) => stray !== null);
  }

  /** The lease of a run that blocks its lane is needed: two of them may be the proof. */
  async #leasesWithoutRun(): Promise<Stray[]> {
    const { redis, keys } = this;
    const blocking = new Set((await this.#blockedLanes.all()).map(({ session_id }) => session_id));
    const ids = (await redis.zrange(keys.runLeases, '0', String(MOST_NAMES - 1))).filter((id) => !blocking.has(id));
    const strays = ids.map(async (id): Promise<Stray | null> => {
      const status = await redis.hget(keys.session(id), 'status');
      if (status === 'active') return null;
      const until = await redis.zscore(keys.runLeases, id);
      return {
        reason: 'lease_without_run',
        id,
        end: `${status === null ? 'has no record' : `is ${status}`} and had the lease of a run; the lease is deleted`,
        checks: [
          { read: ['HGET', keys.session(id), 'status'], equals: status },
          { read: ['ZSCORE', keys.runLeases, id], equals: until },
        ],
        writes: [['ZREM', keys.runLeases, id]],
      };
    });
    return (await Promise.all(strays)).filter((stray) => stray !== null);
  }

  async #ofIncident(id: string): Promise<Stray | null> {
    const { redis, keys } = this;
    const incident = await this.context.records.incident(id).catch(unreadable);
    if (incident === null || incident === 'unreadable') return null;
    const isClosed = incident.step === 'closed';
    const index = isClosed ? keys.closedIncidents : keys.openIncidents;
    const others = isClosed ? keys.openIncidents : keys.closedIncidents;
    const [right, wrong] = await Promise.all([redis.zscore(index, id), redis.zscore(others, id)]);
    if (right !== null && wrong === null) return null;
    return {
      reason: 'incident_outside_its_index',
      id,
      end: `is at "${incident.step}" but was listed under another step; it is listed correctly again`,
      checks: documentChecks(keys.incident(id), incident.rev),
      writes: [
        ['ZREM', others, id],
        ['ZADD', index, String(incident.closed_at ?? incident.opened_at), id],
      ],
    };
  }

  async #ofMessage(id: string): Promise<Stray | null> {
    const { redis, keys } = this;
    const entry = await this.context.records.outboxEntry(id).catch(unreadable);
    if (entry === null || entry === 'unreadable') return null;
    const checks = documentChecks(keys.outbox(id), entry.rev);
    if (!isDelivered(entry.state)) {
      if ((await redis.zscore(keys.outboxDue, id)) !== null) return null;
      const end = 'had a final message that was never due; it is due';
      const writes = [['ZADD', keys.outboxDue, String(entry.due_at), id] as const];
      return { reason: 'final_message_never_due', id, end, checks, writes };
    }
    if ((await redis.exists(keys.session(id))) === 1) return null;
    return {
      reason: 'final_message_without_session',
      id,
      end: 'had a final message whose way is over, and no record; the message is forgotten',
      checks: [...checks, { read: ['EXISTS', keys.session(id)], equals: '0' }],
      writes: [['DEL', keys.outbox(id)]],
    };
  }

  /** The pump only checks lanes on its host's list. */
  async #ofLane(lane: string): Promise<Stray | null> {
    const { redis, keys } = this;
    const host = hostOfLane(lane);
    const lists = await Promise.all([redis.sismember(keys.lanes(host), lane), redis.sismember(keys.hosts, host)]);
    if (!lists.includes(0)) return null;
    return {
      reason: 'lane_outside_its_list',
      id: lane,
      end: 'held sessions but was in no list of lanes; it is checked again',
      checks: [{ read: ['EXISTS', keys.lane(lane)], equals: '1' }],
      writes: [
        ['SADD', keys.lanes(host), lane],
        ['SADD', keys.hosts, host],
      ],
    };
  }

  /** A run that no active session names has ended, but its processes may be alive: {@link BlockedLanes} waits for the proof. */
  async #lanesOfUnknownRuns(lanes: readonly string[]): Promise<Stray[]> {
    if (lanes.length === 0) return [];
    const { redis, keys } = this;
    const holders = await Promise.all(lanes.map((lane) => redis.get(keys.laneHolder(lane))));
    const named = await this.#activeRuns();
    if (named === null) return [];
    for (const { run_id } of await this.#blockedLanes.all()) named.add(run_id);
    const strays = lanes.map((lane, at): Stray | null => {
      const runId = holders[at] ?? null;
      const wasUnknown = this.#seenHolders.get(lane) === runId;
      this.#seenHolders.delete(lane);
      if (runId === null || named.has(runId)) return null;
      if (!wasUnknown) {
        this.#seenHolders.set(lane, runId);
        return null;
      }
      return {
        reason: 'lane_held_by_an_unknown_run',
        id: lane,
        end: `is held by run ${runId}, which no active session names; it is free once nothing of that run is left`,
        checks: [
          { read: ['GET', keys.laneHolder(lane)], equals: runId },
          { read: ['HGET', keys.blockedLanes, lane], equals: null },
        ],
        writes: [blockWrite(keys, { ...withoutRecord(lane, runId), since: this.clock.now() })],
      };
    });
    return strays.filter((stray) => stray !== null);
  }

  /** @returns null if one record of an active session cannot be read: it may be any of them, and is set aside elsewhere */
  async #activeRuns(): Promise<Set<string> | null> {
    const { redis, keys, records } = this.context;
    const ids = await records.sessionIds('active');
    const runs = new Set<string>();
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const part = ids.slice(from, from + AT_ONCE);
      for (const run of await Promise.all(part.map((id) => redis.hget(keys.session(id), 'run')))) {
        const runId = parseObject<Run>(run ?? '')?.run_id;
        if (typeof runId !== 'string') return null;
        runs.add(runId);
      }
    }
    return runs;
  }
}

function idsIn(keys: readonly string[], prefix: string): string[] {
  return keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
}
