/**
 * One run, from the lane's head to its stored end:
 *
 *   start (compare-and-set) → spawn → journal the stream, renew the lease → end → prove that no process is left → store
 *
 * How it ended decides what is stored: an answer completes the session; a failure opens an incident, then releases the run;
 * a stop releases it, cancels it or puts it back at its lane's head. Which of them holds is decided by the record, not here.
 */
import type { Project } from '../../src/config/settings.js';
import { describeError } from '../../src/errors.js';
import { ulid } from '../../src/ids.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import { JournalWriter } from '../../src/journal/writer.js';
import type { Logger } from '../../src/logger.js';
import type { AgentSession, DeathProof, ProcessIdentity, Run } from '../../src/model.js';
import { untilStored } from '../../src/store/retry.js';
import type { Store } from '../../src/store/store.js';
import type { Clock } from '../../src/time.js';
import type { Agent, AgentEnd, AgentEvent, AgentRequest } from '../agents/contract.js';
import type { ProgressView } from '../chat/progressView.js';
import { type LiveActivity, noteActivity, startActivity } from './activity.js';
import { keepRunLease } from './runLease.js';
import { type StopCause, storeEnd } from './storeEnd.js';

export interface RunContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly here: ProcessIdentity;
  readonly logsFolder: string;
  readonly redact: (text: string) => string;
  readonly runLeaseMs: number;
  readonly agentEnvironment: Readonly<Record<string, string>>;
  agentOf(projectKey: string): Agent | null;
  projectOf(key: string): Project | null;
  promptOf(session: AgentSession): Promise<string>;
  readonly reaper: { watch(runId: string, pid?: number): Promise<void>; unwatch(runId: string): void };
  /** @returns the proof that no process of the run is left; null where something could not be ended */
  endProcesses(runId: string, groupPid: number | null): Promise<DeathProof | null>;
  readonly display: Pick<ProgressView, 'begin' | 'update' | 'end'>;
}

export class RunJob {
  readonly runId: string;
  private readonly activity: LiveActivity;
  private readonly context: RunContext;
  private readonly stopper = new AbortController();
  private session: AgentSession;
  private stopCause: StopCause | null = null;
  private hasSucceeded = false;

  constructor(context: RunContext, session: AgentSession) {
    this.context = context;
    this.session = session;
    this.runId = ulid(context.clock);
    this.activity = startActivity(context.clock.now());
  }

  get sessionId(): string {
    return this.session.session_id;
  }

  /** Asks the run to end; the first reason wins. */
  stop(cause: StopCause): void {
    this.stopCause ??= cause;
    this.stopper.abort();
  }

  /**
   * @param givingUp aborts when this process may not wait any longer for what must be stored
   * @returns when the run's end is stored, or is nobody's business any more
   */
  async run(givingUp: AbortSignal): Promise<void> {
    const { clock, here, reaper, display } = this.context;
    const run: Run = { run_id: this.runId, owner: here, pid: null, started_at: clock.now() };
    await reaper.watch(this.runId);
    try {
      const active = await untilStored(clock, givingUp, this.awayWarning, () => this.start(run));
      if (active === null) return;
      this.session = active;
      display.begin(active);
      await this.runAgent(givingUp);
    } finally {
      reaper.unwatch(this.runId);
    }
  }

  /** The answer to an earlier try may have been lost, also one of the connection's own: then the session is ours already. */
  private async start(run: Run): Promise<AgentSession | null> {
    const { records, transitions } = this.context.store;
    const current = await records.session(this.sessionId);
    if (current?.status === 'active' && current.run?.run_id === this.runId) return current;
    if (current === null) return null;
    const started = await transitions.start(current, run, this.context.runLeaseMs);
    if (started !== null) return started;
    const after = await records.session(this.sessionId);
    return after?.status === 'active' && after.run?.run_id === this.runId ? after : null;
  }

  private async runAgent(givingUp: AbortSignal): Promise<void> {
    const { context, session } = this;
    const over = new AbortController();
    const lease = keepRunLease(
      context.store,
      context.clock,
      context.logger,
      {
        session,
        leaseMs: context.runLeaseMs,
        lastActivity: () => this.activity.lastEventAt,
        onLost: (reason) => {
          context.logger.error(
            { session_id: session.session_id },
            `session ${session.session_id}: the run is ended because ${reason}`,
          );
          this.stop('lease_lost');
        },
        onStopRequest: () => this.stop('requested'),
      },
      over.signal,
    );
    const journal = this.openJournal();
    const { end, pid } = await this.follow(journal);
    const proof = await context.endProcesses(this.runId, pid);
    if (proof === null) {
      context.logger.error(
        { session_id: session.session_id },
        `session ${session.session_id}: processes of its run could not be ended`,
      );
    }
    this.write(journal, { event: 'session_end', reason: end.kind });
    journal?.close();
    // First of all, so that the record knows the progress message and no late line overwrites the last one.
    await context.display.end(this.sessionId);
    const ended = {
      sessionId: this.sessionId,
      runId: this.runId,
      end,
      proof,
      stopCause: this.stopCause,
      activity: this.activity,
    };
    await untilStored(context.clock, givingUp, this.awayWarning, () => storeEnd(context, ended));
    over.abort();
    await lease;
  }

  /** Reads the agent's stream to its one end. */
  private async follow(journal: JournalWriter | null): Promise<{ end: AgentEnd; pid: number | null }> {
    const { context, session } = this;
    const agent = context.agentOf(session.project_key);
    if (agent === null) return { end: startFailure(`no project "${session.project_key}" is configured`), pid: null };
    try {
      const request = await this.request();
      const running = agent.start(request, this.stopper.signal);
      if (running.pid !== null) {
        await context.reaper.watch(this.runId, running.pid);
        await this.learn({ pid: running.pid });
      }
      let end: AgentEnd = startFailure('the agent ended without saying so');
      for await (const event of running.events) {
        if (event.type === 'end') end = event.end;
        else await this.take(journal, event);
      }
      return { end, pid: running.pid };
    } catch (error) {
      return { end: startFailure(describeError(error)), pid: null };
    }
  }

  private async request(): Promise<AgentRequest> {
    const { context, session } = this;
    return {
      sessionId: session.session_id,
      runId: this.runId,
      prompt: await context.promptOf(session),
      workingDirectory: session.working_directory,
      conversationId: await context.store.records.conversationId(session.conversation_key),
      attempt: session.attempt,
      environment: {
        ...context.agentEnvironment,
        WATCHKEEPER_RUN: this.runId,
        WATCHKEEPER_SESSION: session.session_id,
        WATCHKEEPER_ATTEMPT: String(session.attempt),
      },
    };
  }

  private async take(journal: JournalWriter | null, event: Exclude<AgentEvent, { type: 'end' }>): Promise<void> {
    const { context, activity } = this;
    noteActivity(activity, event, context.clock.now());
    if (event.type === 'conversation') await this.learn({ conversationId: event.conversationId });
    if (event.type === 'journal') {
      this.write(journal, event.line);
      if (this.isWorthALook(event.line)) await this.wake();
    }
    context.display.update(this.sessionId, activity);
  }

  /** A full disk must not end a healthy run: it is said, and the watchdog judges from what there is. */
  private openJournal(): JournalWriter | null {
    try {
      return JournalWriter.open({ ...this.context, sessionId: this.sessionId });
    } catch (error) {
      this.context.logger.error({ err: error, session_id: this.sessionId }, describeError(error));
      return null;
    }
  }

  private write(journal: JournalWriter | null, line: JournalEvent): void {
    try {
      journal?.append(line);
    } catch (error) {
      this.context.logger.error({ err: error, session_id: this.sessionId }, describeError(error));
    }
  }

  /** Failures may complete a cascade, and a revival's first success is its recovery; all else the deadlines find. */
  private isWorthALook(line: JournalEvent): boolean {
    if (line.event !== 'post_tool_use') return false;
    if (line.outcome === 'failed') return true;
    const isFirstSuccess = this.session.attempt === 2 && line.outcome === 'ok' && !this.hasSucceeded;
    this.hasSucceeded ||= line.outcome === 'ok';
    return isFirstSuccess;
  }

  private async wake(): Promise<void> {
    await this.context.store.transitions.wake({ session: this.sessionId }).catch(this.awayWarning);
  }

  private async learn(learned: { pid?: number; conversationId?: string }): Promise<void> {
    await untilStored(this.context.clock, this.stopper.signal, this.awayWarning, () =>
      this.context.store.transitions.recordRun(this.sessionId, this.runId, learned),
    );
  }

  private readonly awayWarning = (error: unknown): void => {
    this.context.logger.warn(
      { err: error, session_id: this.sessionId },
      'the store is away; the run goes on and tries again',
    );
  };
}

function startFailure(detail: string): AgentEnd {
  return { kind: 'failed', cause: 'crash', reason: 'run_failed_to_start', detail };
}
