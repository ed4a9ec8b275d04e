/**
 * Before something begins in a lane, nothing of another run may live there, whatever the store says: it may have forgotten a
 * run whose bridge has died since (`forgotten.ts`). Processes say themselves, by a mark, in which lane they work.
 *
 * Limit: hosts without `/proc` show no marks, and there nothing is found.
 */
import { findRunsMarked, laneMark } from '../../src/host/processes.js';
import type { Logger } from '../../src/logger.js';
import type { DeathProof } from '../../src/model.js';
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
  /** Lanes in which nothing was found: what this process begins there it ends itself. */
  readonly #swept = new Set<string>();

  constructor(parts: SweptLanesParts) {
    this.#parts = parts;
  }

  /** The store may have lost its last moment: every lane is looked at again. */
  doubt(): void {
    this.#swept.clear();
  }

  /**
   * Ends what lives in the lane.
   * @param isOurs whether a run is one of this process's own
   * @returns whether nothing is left there
   */
  async sweep(lane: string, isOurs: (runId: string) => boolean): Promise<boolean> {
    if (this.#swept.has(lane)) return true;
    const { logger, endProcesses } = this.#parts;
    for (const runId of this.#find(lane).filter((found) => !isOurs(found))) {
      logger.warn(
        { lane, run_id: runId },
        `agents of a run that the store does not know work in ${lane}; they are ended`,
      );
      if ((await endProcesses({ runId, groupPid: null })) !== null) continue;
      logger.error(
        { lane, run_id: runId },
        `nothing can begin in ${lane}: processes of the run ${runId} cannot be ended`,
      );
      return false;
    }
    this.#swept.add(lane);
    return true;
  }

  #find(lane: string): string[] {
    const mark = laneMark(this.#parts.logsId, lane);
    const found = new Set<string>();
    for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
      const look = findRunsMarked(mark);
      for (const runId of look.runs) found.add(runId);
      if (look.settled) break;
    }
    return [...found];
  }
}
