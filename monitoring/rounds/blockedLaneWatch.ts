/**
 * Lanes that are blocked by a run that could not be proven dead. Each is logged as a critical event, with what is left of the
 * run as far as it can be seen from here, and checked until the proof is there; then the lane frees itself. An operator can end
 * those processes.
 */

import { markedPids } from '../../src/host/processes.js';
import type { BlockedLane, DeathProof } from '../../src/jobs/model.js';
import { SECOND } from '../../src/time.js';
import type { ActingContext } from '../actors/actedFolders.js';
import { noticeEvent, writeEvent } from '../events/notice.js';

const LOOK_EVERY_MS = 10 * SECOND;

export class BlockedLaneWatch {
  readonly #context: ActingContext;
  readonly #proveDead: (blocked: BlockedLane) => Promise<DeathProof | null>;

  /** @param proveDead gives the proof that nothing of the run is left, if this process can obtain it */
  constructor(context: ActingContext, proveDead: (blocked: BlockedLane) => Promise<DeathProof | null>) {
    this.#context = context;
    this.#proveDead = proveDead;
  }

  /** @returns when to look again, UTC epoch milliseconds; null if no lane is blocked */
  async look(): Promise<number | null> {
    const { store, clock, folders } = this.#context;
    let left = 0;
    for (const blocked of await store.blockedLanes.all()) {
      if (folders.actsFor(blocked.run?.logs_id) && !(await this.#isFreed(blocked))) left += 1;
    }
    return left === 0 ? null : clock.now() + LOOK_EVERY_MS;
  }

  async #isFreed(blocked: BlockedLane): Promise<boolean> {
    const { store, logger, folders } = this.#context;
    const { lane, run_id: runId } = blocked;
    const proof = await this.#proveDead(blocked);
    if (proof === null) {
      if (!blocked.is_told) await this.#report(blocked);
      return false;
    }
    if (blocked.is_told) await this.#log(blocked, 'closed', {});
    if (!(await store.blockedLanes.free(blocked, proof, folders.guard()))) return false;
    logger.info(
      { lane, run_id: runId, by: proof.by },
      `lane ${lane} is free: nothing is left of the run that blocked it`,
    );
    return true;
  }

  async #report(blocked: BlockedLane): Promise<void> {
    const { store, logger, folders } = this.#context;
    const { lane, run_id: runId, session_id } = blocked;
    const processes = markedPids(runId);
    if (!(await this.#log(blocked, 'detected', { processes }))) return;
    await store.blockedLanes.noteReported(blocked, folders.guard());
    const what = session_id === null ? `run ${runId}` : `the run of session ${session_id}`;
    logger.error(
      { lane, run_id: runId, processes },
      `lane ${lane} is blocked: ${what} could not be proven dead (${describeLeft(processes)}). End what is left of it; the lane is free then`,
    );
  }

  /** @returns whether it is written; a full disk must not keep a lane from being freed */
  async #log(blocked: BlockedLane, step: 'detected' | 'closed', seen: object): Promise<boolean> {
    const { store, events, clock, logger, folders } = this.#context;
    const { run_id, lane, session_id, project_key } = blocked;
    await store.leases.require(folders.guard());
    const notice = {
      incident_id: `blocked-${run_id}`,
      step,
      event: 'queue_stalled',
      session_id,
      project_key,
      reason: 'lane_blocked_by_unproven_run',
      details: { lane, run_id, pid: blocked.run?.pid ?? null, ...seen },
    } as const;
    return writeEvent(events, logger, noticeEvent(notice, clock.now()));
  }
}

/** @param processes pids of a run that could not be proven dead, as far as they can be seen on this host */
export function describeLeft(processes: readonly number[]): string {
  return processes.length === 0 ? 'none of its processes can be seen from here' : `left: ${processes.join(', ')}`;
}
