/** Brings a run to its end: the first request to stop, and the proof that no process of the run is left. */
import { describeError } from '../../src/errors.js';
import type { DeathProof } from '../../src/jobs/model.js';
import { SECOND } from '../../src/time.js';
import type { AgentEnd } from '../agents/program/contract.js';
import type { KnownRun } from './knownRun.js';
import type { RunContext } from './runContext.js';
import type { StopCause } from './storeEnd.js';

/** The signals of a service manager arrive together; which process acts first is chance. */
const ORDER_MS = SECOND;
/** Ended by a termination signal, or with an exit code that reports that the program obeyed one. */
const ASKED_TO_END = /^run_failed_(?:signal_(?:SIGTERM|SIGINT|SIGHUP)|exit_(?:129|130|143))$/;

/** The agent had a whole lease to do work, so this run was an attempt. */
export const LEASE_EXPIRED: AgentEnd = { kind: 'failed', cause: 'crash', reason: 'run_lease_expired', detail: '' };

export class RunStopper {
  readonly #context: RunContext;
  readonly #known: KnownRun;
  readonly #asked = new AbortController();
  #cause: StopCause | null = null;
  #hasEnded = false;
  /** An agent that was asked to stop may ignore that, or hang itself: its stream ends only if it is killed. */
  #enforced: Promise<DeathProof | null> | null = null;

  constructor(context: RunContext, known: KnownRun) {
    this.#context = context;
    this.#known = known;
  }

  get signal(): AbortSignal {
    return this.#asked.signal;
  }

  /** The first reason to stop the run; null if it ends by itself. */
  get cause(): StopCause | null {
    return this.#cause;
  }

  /** The agent's stream has ended: from then on nothing has to be fenced. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Asks the run to end; the first reason wins. */
  stop(cause: StopCause): void {
    this.#cause ??= cause;
    this.#asked.abort();
    if (this.#hasEnded || this.#known.target.groupPid === null) return;
    this.#enforced ??= this.#endProcesses();
  }

  /** Like a stop by the bridge, but without a grace period. */
  kill(): void {
    this.stop('shutdown');
    if (this.#known.target.groupPid !== null) void this.#endProcesses(0);
  }

  /** Called when the stream has ended. @returns a stop if the bridge's shutdown ended it, a failure if the lease expired */
  async ended(end: AgentEnd): Promise<AgentEnd> {
    this.#hasEnded = true;
    if (this.#cause === 'self_fenced' && end.kind === 'stopped') return LEASE_EXPIRED;
    if (this.#cause !== null || !(await this.#isEndedByShutdown(end))) return end;
    this.#cause ??= 'shutdown';
    return { kind: 'stopped' };
  }

  /** Ends the remaining processes. @returns the proof that none is left; null if a process could not be ended */
  async proven(): Promise<DeathProof | null> {
    return (await this.#enforced) ?? this.#endProcesses();
  }

  /**
   * Whether the agent ended because of the bridge's own shutdown. A service manager may signal all processes at once, as systemd
   * does by default: agents then end by the same signal that the bridge is only beginning to handle. So an agent that ended by a
   * termination signal is judged a moment later.
   *
   * Limit: an agent that catches the signal, prints something and exits with code 0 counts as having answered.
   */
  async #isEndedByShutdown(end: AgentEnd): Promise<boolean> {
    const { leaving, clock } = this.#context;
    if (end.kind !== 'failed' || end.cause !== 'crash' || end.reason === 'run_failed_to_start') return false;
    if (!leaving.aborted && ASKED_TO_END.test(end.reason)) await clock.sleep(ORDER_MS, leaving);
    return leaving.aborted;
  }

  async #endProcesses(graceMs?: number): Promise<DeathProof | null> {
    const { clock, logger, endProcesses } = this.#context;
    const { session, target, runId } = this.#known;
    const { session_id } = session;
    if (target.groupPid === null) return { run_id: runId, proven_at: clock.now(), by: 'no_process' };
    try {
      const proof = await endProcesses(target, graceMs);
      if (proof === null) logger.error({ session_id }, `session ${session_id}: its run could not be ended completely`);
      return proof;
    } catch (err) {
      const said = `session ${session_id}: whether its run has ended cannot be seen: ${describeError(err)}`;
      logger.error({ session_id, err }, said);
      return null;
    }
  }
}
