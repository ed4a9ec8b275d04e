/** A run as the process that runs its session knows it: its stored records, and its agent's process. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { systemProcessTable } from '../../src/host/processes.js';
import { ulid } from '../../src/ids.js';
import type { AgentSession, Run } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import { untilStored } from '../../src/redis/retry.js';
import { type LiveActivity, startActivity } from './activity.js';
import type { RunContext } from './runContext.js';
import { type RunTarget, targetOf } from './runProcesses.js';

/** Facts that a run can add to its session's record while it runs. */
export type Learned = Parameters<Store['transitions']['recordRun']>[2];

export class KnownRun {
  readonly runId: string;
  /** As the run last saw it. */
  session: AgentSession;
  run: Run;
  /** Its group is null if the agent has no process. */
  target: RunTarget;
  readonly activity: LiveActivity;
  readonly #context: RunContext;

  /** @param session pending: its run is a new one */
  constructor(context: RunContext, session: AgentSession) {
    const { clock, here: owner, logsId } = context;
    this.#context = context;
    this.session = session;
    this.runId = ulid(clock);
    this.run = { run_id: this.runId, owner, pid: null, started_at: clock.now(), logs_id: logsId };
    this.target = targetOf(this.run);
    this.activity = startActivity(clock);
  }

  /** The agent's; null if none was started, or none is known. */
  get agentProcess(): ProcessIdentity | null {
    const { owner, pid, pid_start = '' } = this.run;
    return pid === null ? null : { ...owner, pid, pid_start };
  }

  /** Identifies the process before its pid can be reused. @returns what to store about it */
  async noteAgent(pid: number): Promise<Learned> {
    const start = systemProcessTable().find(pid)?.start;
    const agent = { pid, ...(start === undefined ? {} : { pid_start: start }) };
    this.run = { ...this.run, ...agent };
    this.target = targetOf(this.run);
    await this.#context.reaper.watch(this.runId, pid);
    return { agent };
  }

  /** @param signal ends the tries while the store is unavailable */
  async learn(learned: Learned, signal: AbortSignal): Promise<void> {
    const known = await untilStored(this.#context.clock, signal, this.warnAway, () =>
      this.#context.store.transitions.recordRun(this.session.session_id, this.runId, learned),
    );
    if (known !== null && known.rev > this.session.rev) this.session = known;
  }

  readonly warnAway = (error: unknown): void => {
    const { session_id } = this.session;
    this.#context.logger.warn(
      { err: error, session_id },
      `session ${session_id}: Redis is unreachable; the run continues and tries again`,
    );
  };
}
