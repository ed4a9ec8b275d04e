/**
 * The knowledge and decisions of the reaper. It ends every known run when its bridge is gone: the pipe from the bridge closed
 * without `bye`, or the bridge was silent for one lease.
 *
 * Silence is counted in the reaper's own ticks that fire on time. Late ticks mean that this host slept or that this process was
 * suspended. The bridge may have been suspended too, so late ticks do not count.
 *
 * The bridge writes one of these per line: `run ID` before that run's agent is started, `run ID PID` afterwards, `end ID`,
 * `tick`, and `bye`. After `bye` the reaper leaves everything alone.
 */
import type { ProcessTable } from '../../src/host/table.js';
import type { Clock, Timer } from '../../src/time.js';
import type { RunTarget } from './runProcesses.js';

const TICKS_PER_LEASE = 12;
const SHORTEST_TICK_MS = 20;

export type Verdict = 'pipe_closed' | 'silent' | 'farewell';

export interface DutyOptions {
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly table: ProcessTable;
  /** Called once. */
  readonly onVerdict: (verdict: Verdict, runs: readonly RunTarget[]) => void;
}

export function tickMs(leaseMs: number): number {
  return Math.max(leaseMs / TICKS_PER_LEASE, SHORTEST_TICK_MS);
}

export class ReaperDuty {
  readonly #options: DutyOptions;
  readonly #runs = new Map<string, RunTarget>();
  #silentMs = 0;
  #timer: Timer | null = null;
  #decided = false;

  constructor(options: DutyOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, leaseMs } = this.#options;
    const dueAt = clock.monotonic() + tickMs(leaseMs);
    this.#timer = clock.after(tickMs(leaseMs), () => {
      const isLate = clock.monotonic() - dueAt > tickMs(leaseMs);
      if (!isLate) this.#silentMs += tickMs(leaseMs);
      if (this.#silentMs >= leaseMs) this.#decide('silent');
      else this.start();
    });
  }

  /** @param line from the bridge; a line that makes no sense is a sign of life, too */
  hear(line: string): void {
    this.#silentMs = 0;
    const [verb, runId, pid] = line.trim().split(' ');
    if (verb === 'bye') this.#decide('farewell');
    if (runId === undefined || runId === '') return;
    if (verb === 'run') this.#runs.set(runId, this.#target(runId, pid));
    if (verb === 'end') this.#runs.delete(runId);
  }

  /** The pipe is closed: the bridge can say nothing any more. */
  closed(): void {
    this.#decide('pipe_closed');
  }

  #decide(verdict: Verdict): void {
    if (this.#decided) return;
    this.#decided = true;
    this.#timer?.cancel();
    this.#options.onVerdict(verdict, [...this.#runs.values()]);
  }

  #target(runId: string, pid: string | undefined): RunTarget {
    const groupPid = Number(pid);
    if (!Number.isInteger(groupPid) || groupPid <= 1) return { runId, groupPid: null };
    const started = this.#options.table.find(groupPid);
    return { runId, groupPid, ...(started === null ? {} : { groupStart: started.start }) };
  }
}
