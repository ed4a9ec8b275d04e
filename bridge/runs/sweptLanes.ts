/**
 * Before a run begins in a lane, no process of another run may live there, whatever the store says: it may have forgotten a run
 * whose bridge has died since (`forgotten.ts`). Two marks on each process name its lane.
 *
 * Limit: hosts without `/proc` show no marks, so nothing is found there.
 */
import { laneLimitOf, limitMarkOf } from '../../src/host/marks.js';
import { findMarkedRuns, laneMark, type MarkedRun } from '../../src/host/processes.js';
import type { DeathProof } from '../../src/jobs/model.js';
import type { Logger } from '../../src/log/logger.js';
import type { RunTarget } from './runProcesses.js';

/** On a busy host the process list always changes during a scan. */
const MOST_LOOKS = 5;

export interface SweptLanesParts {
  /** The id of the logs folder: agents of another folder belong to another Watchkeeper. */
  readonly logsId: string;
  readonly logger: Logger;
  endProcesses(target: RunTarget): Promise<DeathProof | null>;
}

export class SweptLanes {
  readonly #parts: SweptLanesParts;
  /** Runs of other processes; null until the first scan. This process ends its own runs itself. */
  #strays: readonly MarkedRun[] | null = null;

  constructor(parts: SweptLanesParts) {
    this.#parts = parts;
  }

  /** The store may have lost its last moment, so the host is scanned again. */
  doubt(): void {
    this.#strays = null;
  }

  /** Ends what lives in the lane, but for this process's own runs. @returns whether none is left there */
  async sweep(lane: string, isOurs: (limit: string) => boolean): Promise<boolean> {
    this.#strays ??= this.#look().filter(({ runId }) => !isOurs(limitMarkOf(runId)));
    if (this.#strays.length === 0) return true;
    const { logger, logsId, endProcesses } = this.#parts;
    const laneLimit = laneLimitOf(laneMark(logsId, lane));
    for (const stray of this.#strays.filter((found) => found.laneLimit === laneLimit)) {
      const { runId } = stray;
      const fields = { lane, run_id: runId };
      logger.warn(fields, `agents of a run that the store does not know work in ${lane}; they are ended`);
      if ((await endProcesses({ runId, groupPid: null })) === null) {
        logger.error(fields, `nothing can start in ${lane}: processes of the run ${runId} cannot be ended`);
        return false;
      }
      this.#strays = this.#strays?.filter((found) => found !== stray) ?? null;
    }
    return true;
  }

  #look(): readonly MarkedRun[] {
    const found = new Map<string, MarkedRun>();
    for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
      const { runs, settled } = findMarkedRuns();
      for (const run of runs) found.set(run.runId, run);
      if (settled) break;
    }
    return [...found.values()];
  }
}
