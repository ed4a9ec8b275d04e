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
import type { AgentSession } from '../../src/jobs/model.js';
import type { Chat } from '../../src/jobs/ports.js';
import { untilStored } from '../../src/redis/retry.js';
import type { ProgressView } from '../chat/progressView.js';
import { type LiveActivity, startActivity } from './activity.js';
import { AgentStream, type StreamContext } from './agentStream.js';
import type { DirectoryWatch } from './directoryWatch.js';
import { type RecentEnds, reclaimEnd, reclaimRun } from './forgotten.js';
import { KnownRun } from './knownRun.js';
import { RunJournal } from './runJournal.js';
import { keepRunLease } from './runLease.js';
import { logRunEnd } from './runLog.js';
import { type BegunRun, beginRun, endedBefore, type StartContext } from './runStart.js';
import { RunStopper, type StopContext } from './runStopper.js';
import { type EndedRun, type StopCause, storeAnswer, storeEnd } from './storeEnd.js';

export interface RunContext extends StreamContext, StartContext, StopContext {
  projectOf(key: string): Project | null;
  readonly reaper: { watch(runId: string, pid?: number): Promise<void>; unwatch(runId: string): void };
  readonly display: Pick<ProgressView, 'begin' | 'update' | 'end' | 'messageOf'>;
  readonly chat: Pick<Chat, 'showProgress'>;
  readonly directories: Pick<DirectoryWatch, 'mustWait'>;
}

export class RunJob {
  private readonly activity: LiveActivity;
  private readonly context: RunContext;
  private readonly ends: RecentEnds;
  private readonly known: KnownRun;
  private readonly stopper: RunStopper;
  private isCancelled = false;
  /** Nothing of the run can be left: it never began, or its end was proven. */
  private isGone = true;

  /** @param ends of the runs of this process */
  constructor(context: RunContext, session: AgentSession, ends: RecentEnds) {
    this.context = context;
    this.ends = ends;
    this.known = new KnownRun(context, session);
    this.stopper = new RunStopper(context, this.known);
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
    return this.stopper.hasEnded;
  }

  /** Asks the run to end; the first reason wins. */
  stop(cause: StopCause): void {
    this.stopper.stop(cause);
  }

  /** As a stop by the bridge, without any grace. */
  kill(): void {
    this.stopper.kill();
  }

  /**
   * @param givingUp aborts when this process may not wait any longer for what must be stored
   * @returns once the run's end is stored, or is nobody's business any more: who may start next in its lane; null:
   *   nobody, or somebody sees to the lane already
   */
  async run(givingUp: AbortSignal): Promise<string | null> {
    const { context, known, runId } = this;
    const { clock, reaper, display } = context;
    await reaper.watch(runId);
    try {
      const begun = await untilStored(clock, givingUp, known.warnAway, () => beginRun(context, known));
      if (begun === null) return null;
      const { session } = begun;
      known.saw(session);
      // Asked for while the answer to the start was lost: then nothing is begun.
      if (session.stop !== null || session.released !== null) this.stop('requested');
      const ended = await untilStored(clock, givingUp, known.warnAway, () => endedBefore(context, session, runId));
      if (ended !== null) return ended.next;
      display.begin(session);
      return await this.runAgent(begun, givingUp);
    } finally {
      // What could not be ended stays the reaper's: it tries again when this process is gone.
      if (this.isGone) reaper.unwatch(this.runId);
    }
  }

  /** Whatever breaks on the way, the lease is not renewed any longer than the run is cared for. */
  private async runAgent({ conversationId, leaseSince }: BegunRun, givingUp: AbortSignal): Promise<string | null> {
    const { context, known } = this;
    const { clock, logger } = context;
    const begunAt = clock.monotonic();
    const stopRenewing = this.keepLease(leaseSince);
    try {
      const journal = new RunJournal(context, this.sessionId);
      this.isGone = false;
      const stream = new AgentStream(context, {
        known,
        activity: this.activity,
        journal,
        stopped: this.stopper.signal,
      });
      const end = await this.stopper.ended(await stream.follow(conversationId));
      journal.end(end);
      if (end.kind === 'answered') this.keepWhileAway(journal);
      const proof = await this.stopper.proven();
      this.isGone = proof !== null;
      const { sessionId, runId, activity } = this;
      const stopCause = this.stopper.cause;
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
  private keepLease(since: number): () => void {
    const { context } = this;
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
}
