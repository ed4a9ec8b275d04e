/**
 * A Redis that loses its last moment, as a failover does, forgets that a run began or how it ended: the session stands there
 * as it stood before. One that loses everything, as by FLUSHALL, forgets the session. The bridge that ran it knows better,
 * and says so again before anything else is begun; what it cannot go on with, it tells.
 */

import { CANCELLED_TEXT, LOST_TEXT } from '../../monitoring/incident/texts/chatTexts.js';
import { revivalSessionId } from '../../src/ids.js';
import type { AgentSession, Run } from '../../src/jobs/model.js';
import type { Lanes } from '../../src/jobs/ports.js';
import type { KnownEnd } from '../../src/jobs/sessionEnds.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import { type Clock, MINUTE } from '../../src/time.js';
import type { AgentEnd } from '../agents/program/contract.js';
import type { ForgottenNotice } from './forgottenNotice.js';
import { cancelAgain, type EndContext, type EndedRun, storeEnd } from './storeEnd.js';

/** A failover may be noticed late; what it loses is the last second before it. */
const KEPT_MS = 5 * MINUTE;
const MOST_KEPT = 200;
/** Others may store it again at the same time. */
const MOST_TRIES = 3;

export interface ReclaimContext {
  readonly store: Store;
  readonly logger: Logger;
  readonly runLeaseMs: number;
  /** Told of what the store had forgotten. */
  readonly forgotten: Pick<ForgottenNotice, 'note' | 'noteLost'>;
}

/**
 * A session that is pending although its run has begun was forgotten: nothing else puts it back while the run lives. So was
 * one without a record: it is stored again as it was known.
 * @param known the record as the run last saw it
 * @returns whether the store knows the run as the session's, by its own memory or begun there again; false where the
 *   session or its lane belongs to somebody else
 */
export async function reclaimRun(context: ReclaimContext, known: AgentSession, run: Run): Promise<boolean> {
  const { records, transitions, regain } = context.store;
  const { session_id } = known;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const found = await records.session(session_id);
    if (found?.status === 'active') return found.run?.run_id === run.run_id;
    if (found?.status === 'pending') return (await transitions.start(found, run, context.runLeaseMs)) !== null;
    if (found !== null) return false;
    if (!(await regain.active(known, run, context.runLeaseMs))) continue;
    context.forgotten.note(session_id);
    return true;
  }
  return false;
}

/**
 * Before the end of a run is stored whose session the store may have forgotten: the run is the session's again, or the
 * session has ended with what is left to say.
 * @throws ioredis' error where Redis is away
 */
export async function reclaimEnd(
  context: ReclaimContext,
  known: AgentSession,
  ended: EndedRun,
  run: Run,
): Promise<void> {
  const { end, stopCause } = ended;
  const isMissing = await context.store.regain.isMissing(ended.sessionId);
  // Who asked for its end, and why, is lost with the record.
  const isUnexplained = stopCause === 'lease_lost' || (end.kind === 'stopped' && stopCause === 'requested');
  if (isMissing ? !isUnexplained : stopCause === null) {
    if ((await reclaimRun(context, known, run)) || !isMissing) return;
  }
  if (isMissing) await storeMissingEnd(context, known, ended, 'unsent');
}

/** What is known of a final message: that a person's cancellation was its end, or whether it may be in the chat already. */
type KnownFinal = 'cancelled' | 'may_stand' | 'unsent';

async function storeMissingEnd(context: ReclaimContext, known: AgentSession, { end }: EndedRun, as: KnownFinal) {
  const final = { ...finalOf(end, as), mayStand: as !== 'unsent' };
  const { session_id } = known;
  const isLost = final.kind === 'failure';
  const isStored = await context.store.regain.ended(known, final, async () => {
    if (isLost) await context.forgotten.noteLost(session_id);
  });
  if (isStored) {
    if (!isLost) context.forgotten.note(session_id);
    return;
  }
  if (known.revival_of === null || !(await context.store.regain.isMissing(session_id))) return;
  const said = `session ${session_id}: the store has forgotten it, and its message has another end; its own is not sent`;
  context.logger.warn({ session_id, kind: final.kind }, said);
}

function finalOf(end: AgentEnd, as: KnownFinal): Pick<KnownEnd, 'kind' | 'text'> {
  if (as === 'cancelled') return { kind: 'cancelled', text: CANCELLED_TEXT };
  return end.kind === 'answered' ? { kind: 'answer', text: end.answer } : { kind: 'failure', text: LOST_TEXT };
}

/** Whether the session goes on elsewhere, or back to its lane. */
function isNoEnd({ end, stopCause }: EndedRun): boolean {
  return end.kind === 'stopped' || stopCause !== null || (end.kind === 'failed' && end.cause === 'rate_limit');
}

export interface EndsContext extends ReclaimContext, EndContext {
  readonly clock: Clock;
  readonly lanes: Lanes;
  /** @returns whether this process runs the session, or knows that it waits */
  isUnderWay(sessionId: string): boolean;
}

interface KeptEnd {
  readonly ended: EndedRun;
  /** As its run last saw it. */
  readonly known: AgentSession;
  /** Null: it was stored as cancelled by a person. */
  readonly run: Run | null;
  /** On the monotonic clock. */
  readonly at: number;
}

/** Ends that were stored lately. One that puts its session back to its lane is none: there it is pending rightly. */
export class RecentEnds {
  readonly #context: EndsContext;
  /** By session; the oldest first. */
  readonly #kept = new Map<string, KeptEnd>();
  /** The pass that began last, and the one that begins when it has ended. */
  #pass: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(context: EndsContext) {
    this.#context = context;
  }

  /** @param isCancelled whether it was stored as cancelled by a person */
  note(ended: EndedRun, run: Run, isCancelled = false): void {
    if (!isCancelled && isNoEnd(ended)) return;
    const { known } = ended;
    if (known !== null) this.#keep({ ended, known, run: isCancelled ? null : run });
  }

  /**
   * Before the end of a run is stored: where the store lost its last moment, an ended run may hold the lane there.
   * @throws ioredis' error where Redis is away
   */
  async storeAgainBefore(known: AgentSession, run: Run): Promise<void> {
    const { records } = this.#context.store;
    const { holder } = await records.lane(known.lane);
    if (holder !== run.run_id) await this.storeAgain();
  }

  /** @param session that a person cancelled while it waited, as the store had it then */
  noteWithdrawn(session: AgentSession): void {
    const { session_id: sessionId } = session;
    const none = { runId: '', proof: null, activity: { calls: 0, lastCallAt: null } };
    const ended = { ...none, sessionId, known: session, end: { kind: 'stopped' }, stopCause: 'requested' } as const;
    this.#keep({ ended, known: session, run: null });
  }

  has(sessionId: string): boolean {
    this.#forgetOld();
    return this.#kept.has(sessionId);
  }

  /**
   * Changes nothing where nothing was forgotten. After a reconnect every run asks for it: the store is asked about each end
   * at most twice then, by the pass under way, which may have passed what was forgotten since, and by one more for all.
   * @throws ioredis' error where Redis is away
   */
  storeAgain(): Promise<void> {
    this.#next ??= this.#pass
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        this.#pass = this.#storeEach();
        return this.#pass;
      });
    return this.#next;
  }

  async #storeEach(): Promise<void> {
    this.#forgetOld();
    const { store } = this.#context;
    for (const { ended, known, run } of [...this.#kept.values()]) {
      // Its end is stored with the second attempt, where the store has forgotten that one: it must not be revived again.
      if (await this.#isFollowed(ended)) continue;
      if (await store.regain.isMissing(ended.sessionId)) {
        // Its final message may be in the chat: then it must not be sent again.
        await storeMissingEnd(this.#context, known, ended, run === null ? 'cancelled' : 'may_stand');
        continue;
      }
      if (run === null) {
        if (await cancelAgain(this.#context, ended)) void this.#context.lanes.startNext(known.lane);
        continue;
      }
      if (!(await reclaimRun(this.#context, known, run))) continue;
      try {
        await storeEnd(this.#context, ended);
      } finally {
        // Stored perhaps, and only the answer lost.
        void this.#context.lanes.startNext(known.lane);
      }
    }
  }

  /** Whether a second attempt has the message. */
  async #isFollowed({ sessionId, end }: EndedRun): Promise<boolean> {
    if (end.kind !== 'failed') return false;
    const revival = revivalSessionId(sessionId);
    const { store, isUnderWay } = this.#context;
    return this.#kept.has(revival) || isUnderWay(revival) || !(await store.regain.isMissing(revival));
  }

  #keep(end: Omit<KeptEnd, 'at'>): void {
    const { sessionId } = end.ended;
    this.#kept.delete(sessionId);
    this.#kept.set(sessionId, { ...end, at: this.#context.clock.monotonic() });
    this.#forgetOld();
  }

  #forgetOld(): void {
    const oldest = this.#context.clock.monotonic() - KEPT_MS;
    for (const [sessionId, { at }] of this.#kept) {
      if (at >= oldest && this.#kept.size <= MOST_KEPT) return;
      this.#kept.delete(sessionId);
    }
  }
}
