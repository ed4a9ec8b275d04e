/**
 * One run, from the lane's head to its stored end:
 *
 *   start (compare-and-set) → spawn → journal the stream, renew the lease → end → prove that no process is left → store
 *
 * How it ended decides what is stored: an answer completes the session; a failure opens an incident, then releases the run;
 * a stop releases it, cancels it or puts it back at its lane's head. Which of them holds is decided by the record, not here.
 */
import { limitText } from '../../monitoring/incident/texts/chatTexts.js';
import type { Project } from '../../src/config/settings.js';
import { CorruptRecordError, describeError } from '../../src/errors.js';
import type { AgentSession, DeathProof } from '../../src/jobs/model.js';
import type { Chat, Lanes } from '../../src/jobs/ports.js';
import type { KnownEnd } from '../../src/jobs/sessionEnds.js';
import type { AnsweredSession } from '../../src/jobs/transitions.js';
import { untilStored } from '../../src/redis/retry.js';
import type { AgentEnd } from '../agents/program/contract.js';
import type { ProgressView } from '../chat/progressView.js';
import { type LiveActivity, startActivity } from './activity.js';
import { AgentStream, type StreamContext } from './agentStream.js';
import { type RecentEnds, reclaimEnd, reclaimRun } from './forgotten.js';
import { KnownRun } from './knownRun.js';
import { RunJournal } from './runJournal.js';
import { keepRunLease } from './runLease.js';
import { logRunEnd } from './runLog.js';
import type { RunTarget } from './runProcesses.js';
import { isEndedByShutdown } from './shutdownEnd.js';
import { type EndedRun, type StopCause, storeAnswer, storeEnd } from './storeEnd.js';

export interface RunContext extends StreamContext {
  readonly logsFolder: string;
  readonly runLeaseMs: number;
  projectOf(key: string): Project | null;
  /** @returns a pending session as it was lately, perhaps; null: it has to be read */
  takeWaiting(sessionId: string): AgentSession | null;
  readonly lanes: Lanes;
  /** A session that was taken by {@link RunContext.takeWaiting} waits on. */
  keepWaiting(session: AgentSession): void;
  /** @returns whether it is remembered as one that waits */
  isWaiting(sessionId: string): boolean;
  /** As in {@link SagaContext}. */
  endOnDisk(session: AgentSession): Promise<KnownEnd | null>;
  /** As in {@link ReclaimContext}. */
  noteForgotten(sessionId: string): void;
  /** As in {@link ReclaimContext}. */
  noteLost(sessionId: string): Promise<void>;
  readonly reaper: { watch(runId: string, pid?: number): Promise<void>; unwatch(runId: string): void };
  /**
   * @param graceMs between SIGTERM and SIGKILL, where it is not as configured
   * @returns the proof that no process of the run is left; null where something could not be ended
   */
  endProcesses(target: RunTarget, graceMs?: number): Promise<DeathProof | null>;
  readonly display: Pick<ProgressView, 'begin' | 'update' | 'end' | 'messageOf'>;
  readonly chat: Pick<Chat, 'showProgress'>;
  /** @returns whether nothing may begin in the directory now, because it is not there and will come back */
  mustWait(directory: string): Promise<boolean>;
  /** Aborts as soon as the bridge is asked to stop, before its runs are. */
  readonly leaving: AbortSignal;
}

export class RunJob {
  private readonly activity: LiveActivity;
  private readonly context: RunContext;
  private readonly ends: RecentEnds;
  private readonly stopper = new AbortController();
  /** The agent has ended by itself or was ended: from then on nothing has to be fenced. */
  private hasEnded = false;
  /** An agent that was asked to stop may be deaf, or stand still itself: then its stream never ends, unless it is ended. */
  private enforced: Promise<DeathProof | null> | null = null;
  private readonly known: KnownRun;
  private stopCause: StopCause | null = null;
  private isCancelled = false;
  /** The provider's, where the run goes on in an earlier one. */
  private conversationId: string | null = null;
  /** On the monotonic clock. */
  private leaseSince = 0;
  /** Nothing of the run can be left: it never began, or its end was proven. */
  private isGone = true;

  /** @param ends of the runs of this process */
  constructor(context: RunContext, session: AgentSession, ends: RecentEnds) {
    this.context = context;
    this.ends = ends;
    this.known = new KnownRun(context, session);
    this.activity = startActivity(context.clock.now());
  }

  get runId(): string {
    return this.known.runId;
  }

  get sessionId(): string {
    return this.known.session.session_id;
  }

  get lane(): string {
    return this.known.session.lane;
  }

  /** The session is this run's in the store, or was. */
  get hasBegun(): boolean {
    return this.known.session.run?.run_id === this.runId;
  }

  /** The agent's stream has ended; what remains is to store that. */
  get isEnding(): boolean {
    return this.hasEnded;
  }

  /** Asks the run to end; the first reason wins. */
  stop(cause: StopCause): void {
    this.stopCause ??= cause;
    this.stopper.abort();
    if (this.hasEnded || this.known.target.groupPid === null) return;
    this.enforced ??= this.endProcesses();
  }

  /** As a stop by the bridge, without any grace. */
  kill(): void {
    this.stop('shutdown');
    if (this.known.target.groupPid !== null) void this.endProcesses(0);
  }

  /**
   * @param givingUp aborts when this process may not wait any longer for what must be stored
   * @returns once the run's end is stored, or is nobody's business any more: who may start next in its lane; null:
   *   nobody, or somebody sees to the lane already
   */
  async run(givingUp: AbortSignal): Promise<string | null> {
    const { clock, reaper, display } = this.context;
    await reaper.watch(this.runId);
    try {
      const active = await untilStored(clock, givingUp, this.known.warnAway, () => this.start());
      if (active === null) return null;
      this.known.saw(active);
      // Asked for while the answer to the start was lost: then nothing is begun.
      if (active.stop !== null || active.released !== null) this.stop('requested');
      const forgotten = await this.endedBefore(active, givingUp);
      if (forgotten !== null) return forgotten.next;
      display.begin(active);
      return await this.runAgent(givingUp);
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
    const started = await transitions.start(this.known.session, this.known.run, context.runLeaseMs);
    if (started !== null) {
      this.conversationId = started.conversationId;
      return started.session;
    }
    const current = await records.session(this.sessionId).catch(unreadableAsNone);
    if (current === null) await this.waitAgain();
    else if (current.status === 'pending') context.keepWaiting(current);
    // Changed since it was seen, or gone, or torn, and whoever did that has perhaps woken nobody.
    if (current?.status !== 'active') void context.lanes.startNext(this.lane);
    if (current?.status !== 'active' || current.run?.run_id !== this.runId) return null;
    this.conversationId = await records.conversationId(current.conversation_key, context.here.host);
    return (await transitions.renewLease(current, context.runLeaseMs, context.clock.now())) ? current : null;
  }

  /** The store has forgotten that the session waits. */
  private async waitAgain(): Promise<void> {
    const { store, noteForgotten } = this.context;
    if (await store.regain.waiting(this.known.session)) noteForgotten(this.sessionId);
  }

  /** @returns who may start next, where the message had its end before, which the store forgot; null where it had none */
  private async endedBefore(
    active: AgentSession,
    givingUp: AbortSignal,
  ): Promise<Pick<AnsweredSession, 'next'> | null> {
    const { store, clock, endOnDisk } = this.context;
    return untilStored(clock, givingUp, this.known.warnAway, async () => {
      const end = await endOnDisk(active);
      if (end === null) return null;
      // Where somebody changed the session first, nothing is begun all the same: the watchdog finds it, and asks as well.
      return (await store.transitions.endForgotten(active.session_id, this.runId, end)) ?? { next: null };
    });
  }

  /** Whatever breaks on the way, the lease is not renewed any longer than the run is cared for. */
  private async runAgent(givingUp: AbortSignal): Promise<string | null> {
    const { context, known } = this;
    const { clock, logger } = context;
    const begunAt = clock.monotonic();
    const stopRenewing = this.keepLease();
    try {
      const journal = new RunJournal(context, this.sessionId);
      this.isGone = false;
      const stream = new AgentStream(context, known, this.activity, journal, this.stopper.signal);
      const told = await stream.follow(this.conversationId);
      this.hasEnded = true;
      const end = await this.unlessShutdown(told);
      journal.end(end);
      if (end.kind === 'answered') this.keepWhileAway(journal);
      const proof = await this.proven();
      this.isGone = proof !== null;
      const { sessionId, runId, stopCause, activity } = this;
      const tookMs = clock.monotonic() - begunAt;
      // At once: a watchdog that sees the run dead may let the next one begin before the chat has answered below.
      logRunEnd(logger, known.session, { runId, end, stopCause, tookMs, calls: activity.calls });
      this.known.saw(this.asShown());
      // Before the end is stored, so that the record knows the progress message and no late line overwrites the last one.
      await context.display.end(this.sessionId);
      const ended = { sessionId, runId, known: known.session, end, proof, stopCause, activity };
      const next = await untilStored(clock, givingUp, this.known.warnAway, async () => {
        if (end.kind === 'answered') await this.handOver(journal);
        await stream.remembered();
        return this.storeEnd(ended);
      });
      this.ends.note(ended, known.run, this.isCancelled);
      if (end.kind === 'failed' && end.until !== undefined) await this.tellOfLimit();
      return next;
    } finally {
      stopRenewing();
    }
  }

  /** @throws ioredis' error where Redis is away: then it was told nothing of the answer */
  private async handOver(journal: RunJournal): Promise<void> {
    if (this.keepWhileAway(journal)) await this.context.store.redis.ping();
    journal.handOver();
  }

  /** @returns whether the store is away */
  private keepWhileAway(journal: RunJournal): boolean {
    if (this.context.store.redis.status === 'ready') return false;
    journal.keep();
    return true;
  }

  /** @returns the agent's end; a stop by the bridge's shutdown where that has ended it */
  private async unlessShutdown(end: AgentEnd): Promise<AgentEnd> {
    if (this.stopCause !== null || !(await isEndedByShutdown(end, this.context))) return end;
    this.stopCause ??= 'shutdown';
    return { kind: 'stopped' };
  }

  /**
   * One that nobody asked for may meet a store that has forgotten the beginning.
   * @returns as {@link run}
   */
  private async storeEnd(ended: EndedRun): Promise<string | null> {
    const answered = await storeAnswer(this.context, ended);
    if (answered !== null) return answered.next;
    await this.ends.storeAgainBefore(this.known.session, this.known.run);
    await reclaimEnd(this.context, this.known.session, ended, this.known.run);
    this.isCancelled = await storeEnd(this.context, ended);
    // Whoever stored it: the answer to the commit that freed the lane may have been lost.
    void this.context.lanes.startNext(this.lane);
    return null;
  }

  /**
   * Tells a store that may have lost its last moment of this run again; first of ended ones, which may hold the lane there.
   * @returns false where the session or its lane is another's, and where the run ends anyway
   * @throws ioredis' error where Redis is away
   */
  async reclaim(): Promise<boolean> {
    await this.ends.storeAgain();
    if (this.isEnding || this.stopper.signal.aborted) return false;
    return reclaimRun(this.context, this.asShown(), this.known.run);
  }

  /** With its progress message, which the store may not know any more. */
  private asShown(): AgentSession {
    const { session } = this.known;
    const shown = session.request.progress_message_id ?? this.context.display.messageOf(session.session_id);
    return { ...session, request: { ...session.request, progress_message_id: shown } };
  }

  /** Nothing else is said until the limit has ended. */
  private async tellOfLimit(): Promise<void> {
    const { store, chat } = this.context;
    const session = await store.records.session(this.sessionId).catch(() => null);
    if (session?.status !== 'pending' || session.not_before === null) return;
    await chat.showProgress(this.sessionId, limitText(session.not_before));
  }

  /** @returns stops it */
  private keepLease(): () => void {
    const { context, leaseSince: since } = this;
    const { session } = this.known;
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
    return keepRunLease(store, clock, logger, keeper);
  }

  private async proven(): Promise<DeathProof | null> {
    return (await this.enforced) ?? this.endProcesses();
  }

  private async endProcesses(graceMs?: number): Promise<DeathProof | null> {
    const { context, runId } = this;
    const { session, target } = this.known;
    const log = { session_id: session.session_id };
    if (target.groupPid === null) return { run_id: runId, proven_at: context.clock.now(), by: 'no_process' };
    try {
      const proof = await context.endProcesses(target, graceMs);
      if (proof === null) context.logger.error(log, `session ${session.session_id}: its run could not be ended whole`);
      return proof;
    } catch (err) {
      const said = `session ${session.session_id}: whether its run has ended cannot be seen: ${describeError(err)}`;
      context.logger.error({ ...log, err }, said);
      return null;
    }
  }
}

/** The lane's next look sets it aside, and tells of it. */
function unreadableAsNone(error: unknown): null {
  if (error instanceof CorruptRecordError) return null;
  throw error;
}
