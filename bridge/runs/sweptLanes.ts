/**
 * Before something begins in a lane, nothing of another run may live there, whatever the store says: it may have forgotten a
 * run whose bridge has died since (`forgotten.ts`). Processes say themselves, by two marks, in which lane they work.
 *
 * Limit: hosts without `/proc` show no marks, and there nothing is found.
 */
import { laneLimitOf, limitMarkOf } from '../../src/host/marks.js';
import { findMarkedRuns, laneMark, type MarkedRun } from '../../src/host/processes.js';
import type { DeathProof } from '../../src/jobs/model.js';
import type { Logger } from '../../src/log/logger.js';
import type { RunTarget } from './runProcesses.js';

/** On a busy host something always moves while it is read. */
const MOST_LOOKS = 5;

export interface SweptLanesParts {
  /** Of the logs folder: another one's agents are another Watchkeeper's. */
  readonly logsId: string;
  readonly logger: Logger;
  endProcesses(target: RunTarget): Promise<DeathProof | null>;
}

export class SweptLanes {
  readonly #parts: SweptLanesParts;
  /** Runs that are not this process's; null until somebody looks. What this process begins it ends itself. */
  #strays: readonly MarkedRun[] | null = null;

  constructor(parts: SweptLanesParts) {
    this.#parts = parts;
  }

  /** The store may have lost its last moment: the host is looked at again. */
  doubt(): void {
    this.#strays = null;
  }

  /**
   * Ends what lives in the lane.
   * @param isOurs whether the run with this limit (`limitMarkOf`) is one of this process's own
   * @returns whether nothing is left there
   */
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
        logger.error(fields, `nothing can begin in ${lane}: processes of the run ${runId} cannot be ended`);
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
