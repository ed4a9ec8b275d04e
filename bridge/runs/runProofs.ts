/** How a watchdog proves that nothing of a run is left: by what it sees on this host, else by the run's lease. */

import type { KnownGaps } from '../../monitoring/lateness/knownGaps.js';
import { leaseEnd } from '../../monitoring/verdict/detectors/orphan.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { isOwnerAlive } from '../../src/host/lifeSign.js';
import type { AgentSession, BlockedLane, DeathProof } from '../../src/jobs/model.js';
import { hostOfLane } from '../../src/jobs/names.js';
import type { Store } from '../../src/jobs/store.js';
import type { Clock } from '../../src/time.js';
import { proveRunDead } from './proof.js';

export interface RunProofsContext {
  readonly store: Store;
  readonly gaps: KnownGaps;
  readonly clock: Clock;
  readonly here: ProcessIdentity;
  readonly logsFolder: string;
  readonly runLeaseMs: number;
}

export class RunProofs {
  readonly #context: RunProofsContext;

  constructor(context: RunProofsContext) {
    this.#context = context;
  }

  /** If the run's processes cannot be seen from here, only the lease decides: after two of them the run counts as dead. */
  async ofSession({ session_id, run }: Pick<AgentSession, 'session_id' | 'run'>): Promise<DeathProof | null> {
    const { store, gaps, clock, here, logsFolder, runLeaseMs } = this.#context;
    if (run === null) return null;
    const seen = await proveRunDead(run, here, { clock, logsFolder });
    if (seen !== null || (await isOwnerAlive(run.owner, here, logsFolder)) !== null) return seen;
    const until = await store.records.leaseUntil(session_id);
    const isOver = until !== null && gaps.now() > leaseEnd(until, runLeaseMs, gaps.lastEnd(run)) + runLeaseMs;
    return isOver ? { run_id: run.run_id, proven_at: clock.now(), by: 'lease_over' } : null;
  }

  /** A run without a record has only its mark, and two lease durations in which its owner may end it. */
  async ofBlocked({ lane, run_id, run, session_id, since }: BlockedLane): Promise<DeathProof | null> {
    const { gaps, clock, here, runLeaseMs } = this.#context;
    if (run !== null && session_id !== null) return this.ofSession({ session_id, run });
    const isDue = gaps.now() > Math.max(since, gaps.lastEnd(null)) + 2 * runLeaseMs;
    if (!isDue || hostOfLane(lane) !== here.host || (await this.mayHaveProcesses(lane, run_id))) return null;
    return { run_id, proven_at: clock.now(), by: 'scan' };
  }

  /** Only the lanes of this host have processes here; of a run whose record cannot be read only the mark is known. */
  async mayHaveProcesses(lane: string, runId: string): Promise<boolean> {
    const { clock, here, logsFolder } = this.#context;
    if (hostOfLane(lane) !== here.host) return false;
    const run = { run_id: runId, owner: here, pid: null, started_at: 0 };
    return (await proveRunDead(run, here, { clock, logsFolder })) === null;
  }
}
