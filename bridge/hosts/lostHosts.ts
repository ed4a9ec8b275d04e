/**
 * Hosts whose bridge has gone, and the messages that wait there. A host is lost when its bridge has been silent for two run
 * leases, by our own watch. Then each bridge that serves a waiting message's project takes it over into a lane of its own. The
 * commit checks that the lost host is still silent and that the message still waits. A lane that a run of the lost host still
 * holds is left alone until that run is proven dead: the message that it worked on comes first.
 */
import { directoryFor, type ServedPlace } from '../../src/config/servedPlaces.js';
import type { Settings } from '../../src/config/settings.js';
import { CorruptRecordError } from '../../src/errors.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { laneOf } from '../../src/jobs/names.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import { RepeatedService } from '../../src/rounds.js';
import { type Clock, SECOND } from '../../src/time.js';
import { Unchanged } from '../../src/unchanged.js';

const LOOK_AT_LEAST_EVERY_MS = 10 * SECOND;
const LOOKS_PER_LEASE = 3;

export interface LostHostsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly host: string;
  readonly runLeaseMs: number;
  readonly places: readonly ServedPlace[];
  readonly homes: readonly string[];
}

export class LostHosts extends RepeatedService {
  readonly name = 'messages of lost hosts';
  readonly #options: LostHostsOptions;
  readonly #silent: Unchanged;
  readonly #lost = new Set<string>();

  constructor(options: LostHostsOptions) {
    super(options.clock, Math.min(LOOK_AT_LEAST_EVERY_MS, options.runLeaseMs / LOOKS_PER_LEASE));
    this.#options = options;
    this.#silent = new Unchanged(options.clock, options.runLeaseMs);
  }

  isLost(host: string): boolean {
    return this.#lost.has(host);
  }

  protected override round(): Promise<unknown> {
    const again = (err: unknown) => this.#options.logger.warn({ err }, 'the work of lost hosts will be checked again');
    return this.runOnce().catch(again);
  }

  /** @returns how many messages were taken over */
  async runOnce(): Promise<number> {
    const { store, host: here, homes } = this.#options;
    let taken = 0;
    for (const host of new Set([...homes, ...(await store.records.hosts())])) {
      if (host === here) continue;
      const seen = await store.presences.lastSeen(host);
      if (this.#noteSilence(host, seen)) taken += await this.#takeOver(host, seen);
    }
    return taken;
  }

  #noteSilence(host: string, seen: number | null): boolean {
    const { logger, runLeaseMs } = this.#options;
    const isLost = this.#silent.look(host, String(seen)) >= 2 * runLeaseMs;
    if (isLost && !this.#lost.has(host))
      logger.info({ host }, `the bridge of ${host} is lost: it has not reported for two leases`);
    if (!isLost && this.#lost.has(host)) logger.info({ host }, `the bridge of ${host} is back`);
    if (isLost) this.#lost.add(host);
    else this.#lost.delete(host);
    return isLost;
  }

  async #takeOver(host: string, seen: number | null): Promise<number> {
    const { records } = this.#options.store;
    let taken = 0;
    for (const { lane, holder, head } of await records.lanesWorthALook(host)) {
      if (head === null || holder !== null) continue;
      for (const session of await records.sessions(await records.waitingIn(lane))) {
        if (session instanceof CorruptRecordError || !(await this.#take(session, host, seen))) continue;
        taken += 1;
      }
    }
    return taken;
  }

  async #take(session: AgentSession, host: string, seen: number | null): Promise<boolean> {
    const { store, logger, places, host: here } = this.#options;
    const {
      session_id,
      project_key,
      request: { chat_id, thread_id },
    } = session;
    const directory = directoryFor(places, project_key, chat_id, thread_id);
    if (directory === null) return false;
    const isStillSilent = store.presences.isSilentSince(host, seen);
    const moved = await store.lanes.moveTo(session, laneOf(here, directory), directory, [isStillSilent]);
    if (moved !== null)
      logger.warn({ session_id, host }, `session ${session_id}: its message is taken over from the lost host ${host}`);
    return moved !== null;
  }
}

/** @returns why a message is not run again here after its host was lost with its run; null if it may be */
export function keptBack({ host, projects }: Settings, { project_key, run, released }: AgentSession): string | null {
  const isOfLostHost = released?.by === 'lease_over' && run !== null && run.owner.host !== host;
  if (!isOfLostHost || (projects.get(project_key)?.reviveAfterHostLoss ?? true)) return null;
  return 'the host that worked on it was lost, and this project is set to run nothing again after that';
}
