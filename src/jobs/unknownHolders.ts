/** Lanes whose holder is a run that no active session names, so that nobody would ever give them back. */
import type { Clock } from '../time.js';
import { type BlockedLanes, blockWrite, withoutRecord } from './blockedLanes.js';
import type { Run } from './model.js';
import type { StoreContext } from './sessionChange.js';
import type { Stray } from './stray.js';

/** Sessions that are looked at together. */
const AT_ONCE = 500;

export class UnknownHolders {
  readonly #context: StoreContext;
  readonly #clock: Clock;
  readonly #blockedLanes: BlockedLanes;
  /** Holders of lanes that no active session named at the last check: the session may have been in a wrong index then. */
  readonly #seen = new Map<string, string>();

  constructor(context: StoreContext, clock: Clock, blockedLanes: BlockedLanes) {
    this.#context = context;
    this.#clock = clock;
    this.#blockedLanes = blockedLanes;
  }

  /** A run that no active session names has ended, but its processes may be alive: {@link BlockedLanes} waits for the proof. */
  async among(lanes: readonly string[]): Promise<Stray[]> {
    if (lanes.length === 0) return [];
    const { redis, keys } = this.#context;
    const holders = await Promise.all(lanes.map((lane) => redis.get(keys.laneHolder(lane))));
    const named = await this.#activeRuns();
    if (named === null) return [];
    for (const { run_id } of await this.#blockedLanes.all()) named.add(run_id);
    return lanes.flatMap((lane, at) => {
      const runId = holders[at] ?? null;
      const wasUnknown = this.#seen.get(lane) === runId;
      this.#seen.delete(lane);
      if (runId === null || named.has(runId)) return [];
      if (!wasUnknown) {
        this.#seen.set(lane, runId);
        return [];
      }
      return [
        {
          reason: 'lane_held_by_an_unknown_run',
          id: lane,
          end: `is held by run ${runId}, which no active session names; it is free once nothing of that run is left`,
          checks: [
            { read: ['GET', keys.laneHolder(lane)], equals: runId },
            { read: ['HGET', keys.blockedLanes, lane], equals: null },
          ],
          writes: [blockWrite(keys, { ...withoutRecord(lane, runId), since: this.#clock.now() })],
        } satisfies Stray,
      ];
    });
  }

  /**
   * @returns the runs of all active sessions; null if one record cannot be read: it may be any of them, and is set aside
   *   elsewhere
   */
  async #activeRuns(): Promise<Set<string> | null> {
    const { redis, keys, records } = this.#context;
    const ids = await records.sessionIds('active');
    const runs = new Set<string>();
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const part = ids.slice(from, from + AT_ONCE);
      for (const run of await Promise.all(part.map((id) => redis.hget(keys.session(id), 'run')))) {
        const runId = runIdIn(run ?? '');
        if (runId === null) return null;
        runs.add(runId);
      }
    }
    return runs;
  }
}

function runIdIn(run: string): string | null {
  try {
    return (JSON.parse(run) as Partial<Run>).run_id ?? null;
  } catch {
    return null;
  }
}
