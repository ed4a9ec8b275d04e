/** What the process that runs a session knows of the run: its stored records, and its agent's process. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { systemProcessTable } from '../../src/host/processes.js';
import { ulid } from '../../src/ids.js';
import type { AgentSession, Run } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import { untilStored } from '../../src/redis/retry.js';
import type { Clock } from '../../src/time.js';
import type { RunTarget } from './runProcesses.js';

export interface KnownRunContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly here: ProcessIdentity;
  /** The id of the logs folder. */
  readonly logsId: string;
  readonly reaper: { watch(runId: string, pid?: number): Promise<void> };
}

/** What a run can add to its session's record while it runs. */
export type Learned = Parameters<Store['transitions']['recordRun']>[2];

export class KnownRun {
  readonly runId: string;
  private readonly context: KnownRunContext;
  private seen: AgentSession;
  private record: Run;
  private place: RunTarget;

  /** @param session pending: its run is a new one */
  constructor(context: KnownRunContext, session: AgentSession) {
    const { clock, here: owner, logsId } = context;
    this.context = context;
    this.seen = session;
    this.runId = ulid(clock);
    this.record = { run_id: this.runId, owner, pid: null, started_at: clock.now(), logs_id: logsId };
    this.place = { runId: this.runId, groupPid: null };
  }

  /** As the run last saw it. */
  get session(): AgentSession {
    return this.seen;
  }

  /** The run's record in the store. */
  get run(): Run {
    return this.record;
  }

  get target(): RunTarget {
    return this.place;
  }

  /** Takes over the record after a change. */
  saw(session: AgentSession): void {
    this.seen = session;
  }

  /** @param pid null: the agent has no process */
  spawned(pid: number | null): void {
    this.place = { runId: this.runId, groupPid: pid };
  }

  /**
   * Identifies the process before its pid can be reused.
   * @returns what to store about it
   */
  async noteAgent(pid: number): Promise<Learned> {
    const start = systemProcessTable().find(pid)?.start;
    this.place = { runId: this.runId, groupPid: pid, ...(start === undefined ? {} : { groupStart: start }) };
    await this.context.reaper.watch(this.runId, pid);
    const agent = { pid, ...(start === undefined ? {} : { pid_start: start }) };
    this.record = { ...this.record, ...agent };
    return { agent };
  }

  /**
   * Stores what became known, and keeps the changed record.
   * @param signal ends the tries while the store is unavailable
   */
  async learn(learned: Learned, signal: AbortSignal): Promise<void> {
    const known = await untilStored(this.context.clock, signal, this.warnAway, () =>
      this.context.store.transitions.recordRun(this.seen.session_id, this.runId, learned),
    );
    if (known !== null && known.rev > this.seen.rev) this.seen = known;
  }

  readonly warnAway = (error: unknown): void => {
    const { session_id } = this.seen;
    this.context.logger.warn(
      { err: error, session_id },
      `session ${session_id}: the store is away; the run goes on and tries again`,
    );
  };
}
