/**
 * One run, from the lane's head to its stored end:
 *
 *   start (compare-and-set) → spawn → journal the stream, renew the lease → end → prove that no process is left → store
 *
 * How it ended decides what is stored: an answer completes the session; a failure opens an incident, then releases the run;
 * a stop releases it, cancels it or puts it back at its lane's head. Which of them holds is decided by the record, not here.
 */
import { limitText } from '../../monitoring/incident/chatTexts.js';
import type { Project } from '../../src/config/settings.js';
import { describeError } from '../../src/errors.js';
import { failpoint } from '../../src/failpoints.js';
import { LANE_MARK, laneMark, RUN_MARK, systemProcessTable } from '../../src/host/processes.js';
import { ulid } from '../../src/ids.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import type { Logger } from '../../src/logger.js';
import type { AgentSession, DeathProof, ProcessIdentity, Run } from '../../src/model.js';
import type { Chat } from '../../src/ports.js';
import { untilStored } from '../../src/store/retry.js';
import type { Store } from '../../src/store/store.js';
import { publishWake } from '../../src/store/wakes.js';
import type { Clock } from '../../src/time.js';
import type { Agent, AgentEnd, AgentEvent, AgentRequest } from '../agents/contract.js';
import type { ProgressView } from '../chat/progressView.js';
import { type LiveActivity, noteActivity, startActivity } from './activity.js';
import { CoalescedWake } from './coalescedWake.js';
import { type RecentEnds, reclaimRun } from './forgotten.js';
import { markByLimit } from './limitMark.js';
import { RunJournal } from './runJournal.js';
import { keepRunLease } from './runLease.js';
import { logRunEnd, logRunStart } from './runLog.js';
import type { RunTarget } from './runProcesses.js';
import { type EndedRun, type StopCause, storeEnd } from './storeEnd.js';

export interface RunContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly here: ProcessIdentity;
  readonly logsFolder: string;
  /** The id of that folder. */
  readonly logsId: string;
  readonly redact: (text: string) => string;
  readonly runLeaseMs: number;
  readonly agentEnvironment: Readonly<Record<string, string>>;
  agentOf(projectKey: string): Agent | null;
  projectOf(key: string): Project | null;
  promptOf(session: AgentSession): Promise<string>;
  readonly reaper: { watch(runId: string, pid?: number): Promise<void>; unwatch(runId: string): void };
  /** @returns the proof that no process of the run is left; null where something could not be ended */
  endProcesses(target: RunTarget): Promise<DeathProof | null>;
  readonly display: Pick<ProgressView, 'begin' | 'update' | 'end'>;
  readonly chat: Pick<Chat, 'showProgress'>;
}

export class RunJob {
  readonly runId: string;
  private readonly activity: LiveActivity;
  private readonly context: RunContext;
  private readonly ends: RecentEnds;
  private readonly stopper = new AbortController();
  /** Aborted once the agent has ended by itself or was ended: from then on nothing has to be fenced. */
  private readonly ending = new AbortController();
  private session: AgentSession;
  private readonly wake: CoalescedWake;
  private stopCause: StopCause | null = null;
  private hasSucceeded = false;
  private isTornNoted = false;
  /** On the monotonic clock. */
  private leaseSince = 0;
  private target: RunTarget;
  /** As it stands in the store. */
  private record: Run;
  /** Nothing of the run can be left: it never began, or its end was proven. */
  private isGone = true;

  /** @param ends of the runs of this process */
  constructor(context: RunContext, session: AgentSession, ends: RecentEnds) {
    const { clock, here: owner, logsId } = context;
    this.context = context;
    this.ends = ends;
    this.session = session;
    this.runId = ulid(clock);
    this.record = { run_id: this.runId, owner, pid: null, started_at: clock.now(), logs_id: logsId };
    this.target = { runId: this.runId, groupPid: null };
    this.activity = startActivity(context.clock.now());
    this.wake = new CoalescedWake(() =>
      publishWake(context.store, { session: this.sessionId }).catch(this.awayWarning),
    );
  }

  get sessionId(): string {
    return this.session.session_id;
  }

  get lane(): string {
    return this.session.lane;
  }

  /** The session is this run's in the store, or was. */
  get hasBegun(): boolean {
    return this.session.run?.run_id === this.runId;
  }

  /** The agent's stream has ended; what remains is to store that. */
  get isEnding(): boolean {
    return this.ending.signal.aborted;
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
    const { clock, reaper, display } = this.context;
    await reaper.watch(this.runId);
    try {
      const active = await untilStored(clock, givingUp, this.awayWarning, () => this.start());
      if (active === null) return;
      this.session = active;
      // Asked for while the answer to the start was lost: then nothing is begun.
      if (active.stop !== null || active.released !== null) this.stop('requested');
      display.begin(active);
      await this.runAgent(givingUp);
    } finally {
      // What could not be ended stays the reaper's: it tries again when this process is gone.
      if (this.isGone) reaper.unwatch(this.runId);
    }
  }

  /** The answer to an earlier try may have been lost, also one of the connection's own: then the session is ours already. */
  private async start(): Promise<AgentSession | null> {
    const { context } = this;
    const { records, transitions } = context.store;
    this.leaseSince = context.clock.monotonic();
    const started = await transitions.start(this.session, this.record, context.runLeaseMs);
    if (started !== null) return started;
    const current = await records.session(this.sessionId);
    if (current?.status !== 'active' || current.run?.run_id !== this.runId) return null;
    return (await transitions.renewLease(current, context.runLeaseMs, context.clock.now())) ? current : null;
  }

  /** Whatever breaks on the way, the lease is not renewed any longer than the run is cared for. */
  private async runAgent(givingUp: AbortSignal): Promise<void> {
    const { context } = this;
    const { clock, logger } = context;
    const begunAt = clock.monotonic();
    const over = new AbortController();
    const lease = this.keepLease(over.signal);
    try {
      const journal = new RunJournal(context, this.sessionId);
      this.isGone = false;
      const enforced = this.enforceStop();
      const end = await this.follow(journal);
      this.ending.abort();
      const proof = (await enforced) ?? (await this.endProcesses());
      this.isGone = proof !== null;
      journal.end(end.kind);
      const { sessionId, runId, stopCause, activity } = this;
      const tookMs = clock.monotonic() - begunAt;
      // At once: a watchdog that sees the run dead may let the next one begin before the chat has answered below.
      logRunEnd(logger, this.session, { runId, end, stopCause, tookMs, calls: activity.calls });
      // Before the end is stored, so that the record knows the progress message and no late line overwrites the last one.
      await context.display.end(this.sessionId);
      const ended = { sessionId, runId, known: this.session, end, proof, stopCause, activity };
      await untilStored(clock, givingUp, this.awayWarning, () => this.storeEnd(ended));
      this.ends.note(ended, this.record);
      if (end.kind === 'failed' && end.until !== undefined) await this.tellOfLimit();
    } finally {
      over.abort();
      await lease;
    }
  }

  /** One that nobody asked for may meet a store that has forgotten the beginning. */
  private async storeEnd(ended: EndedRun): Promise<void> {
    if (ended.stopCause === null) await reclaimRun(this.context, this.sessionId, this.record);
    await storeEnd(this.context, ended);
  }

  /**
   * Tells a store that may have lost its last moment of this run again; first of ended ones, which may hold the lane there.
   * @returns false where the session or its lane is another's, and where the run ends anyway
   * @throws ioredis' error where Redis is away
   */
  async reclaim(): Promise<boolean> {
    await this.ends.storeAgain();
    if (this.isEnding || this.stopper.signal.aborted) return false;
    return reclaimRun(this.context, this.sessionId, this.record);
  }

  /** Nothing else is said until the limit has ended. */
  private async tellOfLimit(): Promise<void> {
    const { store, chat } = this.context;
    const session = await store.records.session(this.sessionId).catch(() => null);
    if (session?.status !== 'pending' || session.not_before === null) return;
    await chat.showProgress(this.sessionId, limitText(session.not_before));
  }

  private keepLease(over: AbortSignal): Promise<void> {
    const { session, context, leaseSince: since } = this;
    const { store, clock, logger, runLeaseMs: leaseMs } = context;
    const { session_id } = session;
    const onLost = (cause: 'lease_lost' | 'self_fenced') => {
      if (this.isEnding) return;
      const why = cause === 'lease_lost' ? "its lane is another run's" : 'its lease could not be renewed in time';
      logger.error({ session_id }, `session ${session_id}: the run is ended because ${why}`);
      this.stop(cause);
    };
    const lastActivity = () => this.activity.lastEventAt;
    const onStopRequest = () => this.stop('requested');
    const reclaim = () => this.reclaim();
    const keeper = { session, leaseMs, since, lastActivity, reclaim, onLost, onStopRequest };
    return keepRunLease(store, clock, logger, keeper, over);
  }

  /** An agent that was asked to stop may be deaf, or stand still itself: then its stream never ends, and is not waited for. */
  private async enforceStop(): Promise<DeathProof | null> {
    const asked = AbortSignal.any([this.stopper.signal, this.ending.signal]);
    await new Promise<void>((resolve) => {
      if (asked.aborted) resolve();
      else asked.addEventListener('abort', () => resolve(), { once: true });
    });
    return this.isEnding ? null : this.endProcesses();
  }

  private async endProcesses(): Promise<DeathProof | null> {
    const { context, session } = this;
    const log = { session_id: session.session_id };
    if (this.target.groupPid === null) return { run_id: this.runId, proven_at: context.clock.now(), by: 'no_process' };
    try {
      const proof = await context.endProcesses(this.target);
      if (proof === null) context.logger.error(log, `session ${session.session_id}: its run could not be ended whole`);
      return proof;
    } catch (err) {
      const said = `session ${session.session_id}: whether its run has ended cannot be seen: ${describeError(err)}`;
      context.logger.error({ ...log, err }, said);
      return null;
    }
  }

  /** Reads the agent's stream to its one end. */
  private async follow(journal: RunJournal): Promise<AgentEnd> {
    const { context, session } = this;
    const agent = context.agentOf(session.project_key);
    if (agent === null) return startFailure(`no project "${session.project_key}" is configured`);
    let end: AgentEnd = startFailure('the agent ended without saying so');
    try {
      const signal = this.stopper.signal;
      const request = await untilStored(context.clock, signal, this.awayWarning, () => this.request());
      if (request === null) return { kind: 'stopped' };
      failpoint('agent.spawn.before');
      const running = agent.start(request, signal);
      this.target = { runId: this.runId, groupPid: running.pid };
      failpoint('agent.spawn.after');
      logRunStart(context.logger, session, this.runId, running.pid);
      if (running.pid !== null) await this.noteAgent(running.pid);
      for await (const event of running.events) {
        if (event.type === 'end') end = this.heard(event.end);
        else await this.take(journal, event);
      }
    } catch (error) {
      const reason = this.target.groupPid === null ? 'run_failed_to_start' : 'run_lost';
      end = { kind: 'failed', cause: 'crash', reason, detail: describeError(error) };
    }
    return end;
  }

  /** Which process it is, before anybody else can have its pid; and that it is this run's, by a mark it cannot lose. */
  private async noteAgent(pid: number): Promise<void> {
    const start = systemProcessTable().find(pid)?.start;
    this.target = { runId: this.runId, groupPid: pid, ...(start === undefined ? {} : { groupStart: start }) };
    await Promise.all([this.context.reaper.watch(this.runId, pid), markByLimit(this.runId, pid)]);
    const agent = { pid, ...(start === undefined ? {} : { pid_start: start }) };
    this.record = { ...this.record, ...agent };
    await this.learn({ agent });
  }

  private heard(end: AgentEnd): AgentEnd {
    if (end.kind === 'failed' && end.forLog !== undefined) {
      const { session_id } = this.session;
      this.context.logger.warn({ session_id }, `session ${session_id}: ${end.detail}; ${end.forLog}`);
    }
    return end;
  }

  private async request(): Promise<AgentRequest> {
    const { context, session } = this;
    return {
      sessionId: session.session_id,
      runId: this.runId,
      prompt: await context.promptOf(session),
      workingDirectory: session.working_directory,
      conversationId: await context.store.records.conversationId(session.conversation_key, context.here.host),
      attempt: session.attempt,
      environment: {
        ...context.agentEnvironment,
        [RUN_MARK]: this.runId,
        [LANE_MARK]: laneMark(context.logsId, session.lane),
        WATCHKEEPER_SESSION: session.session_id,
        WATCHKEEPER_ATTEMPT: String(session.attempt),
      },
    };
  }

  private async take(journal: RunJournal, event: Exclude<AgentEvent, { type: 'end' }>): Promise<void> {
    const { context, activity } = this;
    noteActivity(activity, event, context);
    if (event.type === 'conversation') await this.learn({ conversationId: event.conversationId });
    if (event.type === 'journal') {
      journal.append(event.line);
      if (journal.isTorn) this.noteTornJournal();
      if (this.isWorthALook(event.line)) this.wake.ask();
    }
    context.display.update(this.sessionId, activity);
  }

  /** Failures may complete a cascade, and a revival's first success is its recovery; all else the deadlines find. */
  private isWorthALook(line: JournalEvent): boolean {
    if (line.event !== 'post_tool_use') return false;
    if (line.outcome === 'failed') return true;
    const isFirstSuccess = this.session.attempt === 2 && line.outcome === 'ok' && !this.hasSucceeded;
    this.hasSucceeded ||= line.outcome === 'ok';
    return isFirstSuccess;
  }

  /**
   * Else its silence would be taken for the agent's. Not waited for: a store on the same disk takes nothing either, and the
   * agent's stream would stand still with it.
   */
  private noteTornJournal(): void {
    if (this.isTornNoted) return;
    this.isTornNoted = true;
    const { sessionId } = this;
    this.learn({ journalTorn: true }, AbortSignal.any([this.stopper.signal, this.ending.signal])).catch(
      (err: unknown) =>
        this.context.logger.warn({ err, session_id: sessionId }, `session ${sessionId}: its torn journal is not noted`),
    );
  }

  private async learn(
    learned: Parameters<Store['transitions']['recordRun']>[2],
    signal = this.stopper.signal,
  ): Promise<void> {
    const known = await untilStored(this.context.clock, signal, this.awayWarning, () =>
      this.context.store.transitions.recordRun(this.sessionId, this.runId, learned),
    );
    if (known !== null && known.rev > this.session.rev) this.session = known;
  }

  private readonly awayWarning = (error: unknown): void => {
    this.context.logger.warn(
      { err: error, session_id: this.sessionId },
      `session ${this.sessionId}: the store is away; the run goes on and tries again`,
    );
  };
}

function startFailure(detail: string): AgentEnd {
  return { kind: 'failed', cause: 'crash', reason: 'run_failed_to_start', detail };
}
