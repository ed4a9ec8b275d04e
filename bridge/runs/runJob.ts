/**
 * One run, from the lane's head to its stored end:
 *
 *   start (compare-and-set) → spawn → journal the stream, renew the lease → end → prove that no process is left → store
 *
 * How it ended decides what is stored: an answer completes the session; a failure opens an incident, then releases the run; a
 * stop releases the session, cancels it or puts it back at its lane's head. The record decides which of these applies.
 */
import { waitText } from '../../monitoring/incident/texts/chatTexts.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { untilStored } from '../../src/redis/retry.js';
import { passes } from '../agents/failures/wording.js';
import { AgentStream } from './agentStream.js';
import { type RecentEnds, reclaimEnd, reclaimRun } from './forgotten.js';
import { KnownRun } from './knownRun.js';
import type { RunContext } from './runContext.js';
import { RunJournal } from './runJournal.js';
import { keepRunLease } from './runLease.js';
import { logRunEnd } from './runLog.js';
import { type BegunRun, beginRun, endedBefore } from './runStart.js';
import { RunStopper } from './runStopper.js';
import { RunWorklog } from './runWorklog.js';
import { type EndedRun, type StopCause, storeAnswer, storeEnd } from './storeEnd.js';

export class RunJob {
  readonly #context: RunContext;
  readonly #ends: RecentEnds;
  readonly #known: KnownRun;
  readonly #stopper: RunStopper;
  #isCancelled = false;
  /** No process of the run can be left: it never began, or its end was proven. */
  #isGone = true;

  constructor(context: RunContext, session: AgentSession, ends: RecentEnds) {
    this.#context = context;
    this.#ends = ends;
    this.#known = new KnownRun(context, session);
    this.#stopper = new RunStopper(context, this.#known);
  }

  get runId(): string {
    return this.#known.runId;
  }

  get sessionId(): string {
    return this.#known.session.session_id;
  }

  get lane(): string {
    return this.#known.session.lane;
  }

  /** The session is, or was, this run's in the store. */
  get hasBegun(): boolean {
    return this.#known.session.run?.run_id === this.runId;
  }

  /** The agent's stream has ended; its end still has to be stored. */
  get isEnding(): boolean {
    return this.#stopper.hasEnded;
  }

  /** Asks the run to end; the first reason wins. */
  stop(cause: StopCause): void {
    this.#stopper.stop(cause);
  }

  /** Like a stop by the bridge, but without a grace period. */
  kill(): void {
    this.#stopper.kill();
  }

  /** @param givingUp aborts a wait for the store @returns the session that may start next in the lane; null if there is none */
  async run(givingUp: AbortSignal): Promise<string | null> {
    const context = this.#context;
    const known = this.#known;
    const { runId } = known;
    const { clock, reaper, display } = context;
    await reaper.watch(runId);
    try {
      const begun = await untilStored(clock, givingUp, known.warnAway, () => beginRun(context, known));
      if (begun === null) return null;
      const { session } = begun;
      known.session = session;
      // The request may have arrived while the reply to the start was lost: then nothing is begun.
      if (session.stop !== null || session.released !== null) this.stop('requested');
      const ended = await untilStored(clock, givingUp, known.warnAway, () => endedBefore(context, session, runId));
      if (ended !== null) return ended.next;
      display.begin(session);
      return await this.#runAgent(begun, givingUp);
    } finally {
      // Processes that could not be ended stay with the reaper, which tries again when this process is gone.
      if (this.#isGone) reaper.unwatch(this.runId);
    }
  }

  /** If anything fails on the way, renewal of the lease still stops when this process stops looking after the run. */
  async #runAgent({ conversationId, leaseSince, acceptedAt }: BegunRun, givingUp: AbortSignal): Promise<string | null> {
    const context = this.#context;
    const known = this.#known;
    const { clock, logger } = context;
    const begunAt = clock.monotonic();
    const stopRenewing = this.#keepLease(leaseSince);
    try {
      const journal = new RunJournal(context, this.sessionId);
      journal.begin(this.runId, acceptedAt);
      this.#isGone = false;
      const worklog = new RunWorklog(context, known);
      const stream = new AgentStream(context, known, { journal, worklog }, this.#stopper.signal);
      const end = await this.#stopper.ended(await stream.follow(conversationId));
      journal.end(end);
      const proof = await this.#stopper.proven();
      this.#isGone = proof !== null;
      worklog.end(end, this.#stopper.cause, this.#isGone);
      const { sessionId } = this;
      const { runId, activity } = known;
      known.session = this.#asShown();
      const ended = {
        sessionId,
        runId,
        known: known.session,
        end,
        proof,
        stopCause: this.#stopper.cause,
        activity,
        continued: conversationId,
      };
      // At once: a watchdog that sees the run dead may start the next one before the chat has answered below.
      logRunEnd(logger, known.session, ended, clock.monotonic() - begunAt);
      // Before the end is stored, so that the record knows the progress message and no late line overwrites the last one.
      await context.display.end(this.sessionId);
      const next = await untilStored(clock, givingUp, this.#known.warnAway, async () => {
        if (end.kind === 'answered') await this.#handOver(journal);
        await stream.remembered();
        return this.#storeEnd(ended, worklog);
      });
      this.#ends.note(ended, known.run, this.#isCancelled);
      if (end.kind === 'failed' && passes(end.cause)) await this.#showWait();
      return next;
    } finally {
      stopRenewing();
    }
  }

  /** @throws ioredis' error if Redis is unavailable: the answer was then not stored */
  async #handOver(journal: RunJournal): Promise<void> {
    const { redis } = this.#context.store;
    if (redis.status !== 'ready') await redis.ping();
    journal.handOver();
  }

  /** If the end was not requested, the store may have forgotten the beginning. @returns as {@link run} */
  async #storeEnd(ended: EndedRun, worklog: RunWorklog): Promise<string | null> {
    const answered = await worklog.endBy(() => storeAnswer(this.#context, ended));
    if (answered !== null) return answered.next;
    await this.#ends.storeAgainBefore(this.#known.session, this.#known.run);
    await reclaimEnd(this.#context, this.#known.session, ended, this.#known.run);
    this.#isCancelled = await storeEnd(this.#context, ended);
    // Whichever call stored it: the reply to the commit that freed the lane may have been lost.
    void this.#context.lanes.startNext(this.lane);
    return null;
  }

  /**
   * Stores this run again in a store that may have lost its last moment; first the ends of earlier runs, which may hold the
   * lane there.
   * @returns false if the session or its lane belongs to another run, or this run is ending anyway
   * @throws ioredis' error if Redis is unavailable
   */
  async reclaim(): Promise<boolean> {
    await this.#ends.storeAgain();
    if (this.isEnding || this.#stopper.signal.aborted) return false;
    return reclaimRun(this.#context, this.#asShown(), this.#known.run);
  }

  /** Includes its progress message, which the store may not know any more. */
  #asShown(): AgentSession {
    const { session } = this.#known;
    const shown = session.request.progress_message_id ?? this.#context.display.messageOf(session.session_id);
    return { ...session, request: { ...session.request, progress_message_id: shown } };
  }

  /** Nothing else is sent until it is run again. */
  async #showWait(): Promise<void> {
    const { store, chat } = this.#context;
    const session = await store.records.session(this.sessionId).catch(() => null);
    if (session?.status !== 'pending' || session.not_before === null) return;
    await chat.showProgress(this.sessionId, waitText(session, session.not_before));
  }

  /** @returns a function that stops it */
  #keepLease(since: number): () => void {
    const { session } = this.#known;
    const { store, clock, logger, settings } = this.#context;
    const { session_id } = session;
    return keepRunLease(store, clock, logger, {
      session,
      leaseMs: settings.timings.runLeaseMs,
      since,
      lastActivity: () => this.#known.activity.lastEventAt,
      reclaim: () => this.reclaim(),
      onStopRequest: () => this.stop('requested'),
      onLost: (cause) => {
        if (this.isEnding) return;
        const why = cause === 'lease_lost' ? "its lane is another run's" : 'its lease could not be renewed in time';
        logger.error({ session_id }, `session ${session_id}: ending the run: ${why}`);
        this.stop(cause);
      },
    });
  }
}
