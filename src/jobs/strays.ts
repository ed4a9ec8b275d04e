/**
 * Records that nothing would ever bring to an end, because a crash of Redis, a manual change or a fault of ours removed their
 * counterpart. Every state has one owner; a stray is what its owner cannot find. Each round checks a bounded part of the
 * records, so that it is short, and the next one continues.
 */

import { applyCommit, type Check } from '../redis/commit.js';
import type { Clock } from '../time.js';
import type { BlockedLanes } from './blockedLanes.js';
import { hostOfLane } from './names.js';
import { isDelivered } from './owners.js';
import type { StoreContext } from './sessionChange.js';
import type { Stray } from './stray.js';
import {
  type FinalTexts,
  missing,
  namesWithoutSession,
  type SessionNeeds,
  straysOfSession,
  unreadable,
} from './straySessions.js';
import { UnknownHolders } from './unknownHolders.js';

const SCAN_COUNT = 500;
const MOST_SCANS = 4;
const MOST_NAMES = 500;

export class Strays {
  readonly #context: StoreContext;
  readonly #clock: Clock;
  readonly #blockedLanes: BlockedLanes;
  readonly #unknownHolders: UnknownHolders;
  #cursor = '0';
  #unread: string[] = [];

  constructor(context: StoreContext, clock: Clock, blockedLanes: BlockedLanes) {
    this.#context = context;
    this.#clock = clock;
    this.#blockedLanes = blockedLanes;
    this.#unknownHolders = new UnknownHolders(context, clock, blockedLanes);
  }

  /**
   * Checks the next part of the records.
   * @param texts sent if a final message was lost before it was sent
   */
  async find(runLeaseMs: number, texts: FinalTexts): Promise<Stray[]> {
    const { redis, keys } = this.#context;
    const found = [...(await namesWithoutSession(redis, keys, MOST_NAMES)), ...(await this.#namesWithoutIncident())];
    found.push(...(await this.#leasesWithoutRun()));
    const held: string[] = [];
    this.#unread = [];
    for (let scans = 0; scans < MOST_SCANS; scans += 1) {
      const [next, part] = await redis.scan(this.#cursor, 'MATCH', keys.pattern, 'COUNT', SCAN_COUNT);
      this.#cursor = next;
      found.push(...(await this.#among(part, { now: this.#clock.now(), runLeaseMs, texts })));
      held.push(...idsIn(part, keys.laneHolder('')));
      if (next === '0') break;
    }
    return [...found, ...(await this.#unknownHolders.among(held))];
  }

  /** The sessions whose records could not be read at the last check. */
  get unread(): readonly string[] {
    return this.#unread;
  }

  /** @returns whether it is fixed; false if it is no longer a stray */
  mend({ checks, writes }: Stray, guard: readonly Check[]): Promise<boolean> {
    return applyCommit(this.#context.redis, { checks: [...guard, ...checks], writes });
  }

  async #among(part: readonly string[], needs: SessionNeeds): Promise<Stray[]> {
    const { keys, records } = this.#context;
    const ids = idsIn(part, keys.session(''));
    const sessions = await records.sessions(ids);
    const readable = new Set(sessions.map((session) => (session instanceof Error ? null : session.session_id)));
    this.#unread.push(...ids.filter((id) => !readable.has(id)));
    const found = await Promise.all([
      ...sessions.map((session) => (session instanceof Error ? [] : straysOfSession(this.#context, session, needs))),
      ...idsIn(part, keys.incident('')).map((id) => this.#ofIncident(id)),
      ...idsIn(part, keys.outbox('')).map((id) => this.#ofMessage(id)),
      ...idsIn(part, keys.lane('')).map((lane) => this.#ofLane(lane)),
    ]);
    return found.flat();
  }

  async #namesWithoutIncident(): Promise<Stray[]> {
    const { redis, keys } = this.#context;
    const open = await redis.zrange(keys.openIncidents, '0', String(MOST_NAMES - 1));
    return (await missing(redis, open, keys.incident)).map((id) => ({
      reason: 'incident_record_missing',
      id,
      end: 'was open and has no record; its session is judged anew',
      checks: [{ read: ['EXISTS', keys.incident(id)], equals: '0' }],
      writes: [['ZREM', keys.openIncidents, id]],
    }));
  }

  /** The lease of a run that blocks its lane is needed: two of them may be the proof. */
  async #leasesWithoutRun(): Promise<Stray[]> {
    const { redis, keys } = this.#context;
    const blocking = new Set((await this.#blockedLanes.all()).map(({ session_id }) => session_id));
    const ids = (await redis.zrange(keys.runLeases, '0', String(MOST_NAMES - 1))).filter((id) => !blocking.has(id));
    const statuses = await Promise.all(ids.map((id) => redis.hget(keys.session(id), 'status')));
    const strays = ids.map(async (id, at): Promise<Stray[]> => {
      const status = statuses[at] ?? null;
      if (status === 'active') return [];
      const until = await redis.zscore(keys.runLeases, id);
      return [
        {
          reason: 'lease_without_run',
          id,
          end: `${status === null ? 'has no record' : `is ${status}`} and had the lease of a run; the lease is deleted`,
          checks: [
            { read: ['HGET', keys.session(id), 'status'], equals: status },
            { read: ['ZSCORE', keys.runLeases, id], equals: until },
          ],
          writes: [['ZREM', keys.runLeases, id]],
        },
      ];
    });
    return (await Promise.all(strays)).flat();
  }

  async #ofIncident(id: string): Promise<Stray[]> {
    const { redis, keys, records } = this.#context;
    const incident = await records.incident(id).catch(unreadable);
    if (incident === null || incident === 'unreadable') return [];
    const index = incident.step === 'closed' ? keys.closedIncidents : keys.openIncidents;
    const others = incident.step === 'closed' ? keys.openIncidents : keys.closedIncidents;
    const [right, wrong] = await Promise.all([redis.zscore(index, id), redis.zscore(others, id)]);
    if (right !== null && wrong === null) return [];
    return [
      {
        reason: 'incident_outside_its_index',
        id,
        end: `is at "${incident.step}" and stood elsewhere among the incidents; it stands there again`,
        checks: [{ read: ['HGET', keys.incident(id), 'rev'], equals: String(incident.rev) }],
        writes: [
          ['ZREM', others, id],
          ['ZADD', index, String(incident.closed_at ?? incident.opened_at), id],
        ],
      },
    ];
  }

  async #ofMessage(id: string): Promise<Stray[]> {
    const { redis, keys, records } = this.#context;
    const entry = await records.outboxEntry(id).catch(unreadable);
    if (entry === null || entry === 'unreadable') return [];
    const checks: Check[] = [{ read: ['HGET', keys.outbox(id), 'rev'], equals: String(entry.rev) }];
    if (!isDelivered(entry.state)) {
      if ((await redis.zscore(keys.outboxDue, id)) !== null) return [];
      const end = 'had a final message that was never due; it is due';
      const writes = [['ZADD', keys.outboxDue, String(entry.due_at), id] as const];
      return [{ reason: 'final_message_never_due', id, end, checks, writes }];
    }
    if ((await redis.exists(keys.session(id))) === 1) return [];
    const end = 'had a final message whose way is over, and no record; the message is forgotten';
    const gone: Check = { read: ['EXISTS', keys.session(id)], equals: '0' };
    return [
      {
        reason: 'final_message_without_session',
        id,
        end,
        checks: [...checks, gone],
        writes: [['DEL', keys.outbox(id)]],
      },
    ];
  }

  /** The pump only checks lanes on its host's list. */
  async #ofLane(lane: string): Promise<Stray[]> {
    const { redis, keys } = this.#context;
    const host = hostOfLane(lane);
    const isListed =
      (await redis.sismember(keys.lanes(host), lane)) === 1 && (await redis.sismember(keys.hosts, host)) === 1;
    if (isListed) return [];
    return [
      {
        reason: 'lane_outside_its_list',
        id: lane,
        end: 'held sessions and was on no list of lanes; it is looked at again',
        checks: [{ read: ['EXISTS', keys.lane(lane)], equals: '1' }],
        writes: [
          ['SADD', keys.lanes(host), lane],
          ['SADD', keys.hosts, host],
        ],
      },
    ];
  }
}

/** @returns the rest after the prefix, of the keys that have it */
function idsIn(keys: readonly string[], prefix: string): string[] {
  return keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
}
