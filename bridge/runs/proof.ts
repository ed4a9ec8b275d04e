/** Decides when a run has certainly ended, seen from another process than the one that ended it. */
import { leaseEnd } from '../../monitoring/verdict/detectors/orphan.js';
import type { JudgeContext } from '../../monitoring/watch/sessionJudge.js';
import { isProcessAlive, type ProcessIdentity } from '../../src/host/identity.js';
import { isOwnerAlive } from '../../src/host/lifeSign.js';
import type { ProcessTable } from '../../src/host/table.js';
import type { AgentSession, BlockedLane, DeathProof, Run } from '../../src/jobs/model.js';
import { hostOfLane } from '../../src/jobs/names.js';
import type { Clock } from '../../src/time.js';
import { RunProcesses, targetOf } from './runProcesses.js';

/** On a busy host the process list always changes during a scan; it is then scanned again, a few milliseconds each. */
const MOST_LOOKS = 10;
const LOOKS_NEEDED = 2;

export interface ProofOptions {
  readonly clock: Clock;
  /** Shared with the run's owner, whose life sign is in it. */
  readonly logsFolder: string;
  readonly table?: ProcessTable;
}

/**
 * The rules are in the design, "Ending a run". Each of these proves that a run is dead:
 * - an empty scan in its own pid namespace and boot
 * - another boot of the same host
 * - from another pid namespace: its owner is gone, and the owner's life sign declared that its container dies whole
 *
 * Another namespace alone proves nothing: a standby next to a living bridge has its own. Signals no process. An expired lease is
 * a separate proof, given elsewhere.
 * @param run the stored run
 * @param here the identity of this process
 * @returns the proof; null if the run is alive or its end is not visible from here
 */
export async function proveRunDead(run: Run, here: ProcessIdentity, options: ProofOptions): Promise<DeathProof | null> {
  const proof = (by: DeathProof['by']): DeathProof => ({ run_id: run.run_id, proven_at: options.clock.now(), by });
  const { owner } = run;
  if (owner.host !== here.host || owner.boot_id === '' || here.boot_id === '') return null;
  if (owner.boot_id !== here.boot_id) return proof('other_boot');
  if (owner.pid_namespace === '' || here.pid_namespace === '') return null;
  if (owner.pid_namespace !== here.pid_namespace) {
    const isGoneWhole = (await isOwnerAlive(owner, here, options.logsFolder)) === false;
    return isGoneWhole ? proof('other_container') : null;
  }
  if (mayStillStart(run, here)) return null;
  return isGone(run, options.table) ? proof('scan') : null;
}

/** A living owner that has recorded no process may be about to start one, so an empty scan proves nothing. */
function mayStillStart(run: Run, here: ProcessIdentity): boolean {
  const isOurs = run.owner.pid === here.pid && run.owner.pid_start === here.pid_start;
  return run.pid === null && !isOurs && isProcessAlive(run.owner, here) !== false;
}

function isGone(run: Run, table?: ProcessTable): boolean {
  const processes = new RunProcesses(targetOf(run), table);
  let empty = 0;
  for (let looks = 0; looks < MOST_LOOKS && empty < LOOKS_NEEDED; looks += 1) {
    const look = processes.look();
    if (!look.showsMarks || look.left.length > 0 || look.doubtful.length > 0) return false;
    if (look.settled) empty += 1;
  }
  return empty === LOOKS_NEEDED;
}

/** How a watchdog proves that nothing of a run is left: by the processes of this host, else by the run's lease. */
export class RunProofs {
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
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

  /** A run without a record has only its mark. Its owner gets two lease durations to end it. */
  async ofBlocked({ lane, run_id, run, session_id, since }: BlockedLane): Promise<DeathProof | null> {
    const { gaps, clock, here, runLeaseMs } = this.#context;
    if (run !== null && session_id !== null) return this.ofSession({ session_id, run });
    const isDue = gaps.now() > Math.max(since, gaps.lastEnd(null)) + 2 * runLeaseMs;
    if (!isDue || hostOfLane(lane) !== here.host || (await this.mayHaveProcesses(lane, run_id))) return null;
    return { run_id, proven_at: clock.now(), by: 'scan' };
  }

  /** Only the lanes of this host have processes here. If a run's record cannot be read, only its mark is known. */
  async mayHaveProcesses(lane: string, runId: string): Promise<boolean> {
    const { clock, here, logsFolder } = this.#context;
    if (hostOfLane(lane) !== here.host) return false;
    const run = { run_id: runId, owner: here, pid: null, started_at: 0 };
    return (await proveRunDead(run, here, { clock, logsFolder })) === null;
  }
}
