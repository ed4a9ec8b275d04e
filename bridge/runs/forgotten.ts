/**
 * A Redis that loses its last moment, as in a failover, forgets that a run began or how it ended: the session is back in its
 * earlier state. A Redis that loses everything, as by FLUSHALL, forgets the session. The bridge that ran it knows better, and
 * stores it again before anything else begins. It reports what it cannot continue.
 */

import { CANCELLED_TEXT, LOST_TEXT } from '../../monitoring/incident/texts/chatTexts.js';
import { revivalSessionId } from '../../src/ids.js';
import type { AgentSession, Run } from '../../src/jobs/model.js';
import type { KnownEnd } from '../../src/jobs/sessionEnds.js';
import { Newest } from '../../src/newest.js';
import { MINUTE } from '../../src/time.js';
import { passes } from '../agents/failures/wording.js';
import type { AgentEnd } from '../agents/program/contract.js';
import { Coalesced } from './coalesced.js';
import { cancelAgain, type EndContext, type EndedRun, type StopCause, storeEnd } from './storeEnd.js';

/** A failover may be noticed late; it loses the last second before it. */
const KEPT_MS = 5 * MINUTE;
const MOST_KEPT = 200;
/** Other processes may store it again at the same time. */
const MOST_TRIES = 3;

/**
 * A session that is pending although its run has begun was forgotten: nothing else puts it back while the run lives. The same
 * holds for a session without a record: it is stored again as last known.
 * @param known the record as the run last saw it
 * @returns whether the run is the session's run in the store, either still or again; false if the session or its lane belongs
 *   to another run
 */
export async function reclaimRun(context: EndContext, known: AgentSession, run: Run): Promise<boolean> {
  const { records, transitions, regain } = context.store;
  const { runLeaseMs } = context.settings.timings;
  const { session_id } = known;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const found = await records.session(session_id);
    if (found?.status === 'active') return found.run?.run_id === run.run_id;
    if (found?.status === 'pending') return (await transitions.start(found, run, runLeaseMs)) !== null;
    if (found !== null) return false;
    if (!(await regain.active(known, run, runLeaseMs))) continue;
    context.forgotten.note(session_id);
    return true;
  }
  return false;
}

/** Before a run's end is stored: the run is the session's again, or its final message is known. @throws ioredis' error */
export async function reclaimEnd(context: EndContext, known: AgentSession, ended: EndedRun, run: Run): Promise<void> {
  const { end, stopCause } = ended;
  const isMissing = await context.store.regain.isMissing(ended.sessionId);
  // The record that said who asked for the end, and why, is lost.
  const isUnexplained = stopCause === 'lease_lost' || (end.kind === 'stopped' && stopCause === 'requested');
  if (isMissing ? !isUnexplained : isOwnEnd(stopCause)) {
    if ((await reclaimRun(context, known, run)) || !isMissing) return;
  }
  if (isMissing) await storeMissingEnd(context, known, ended, 'unsent');
}

/** `cancelled`: a person's cancellation was the end; `perhaps_sent`: the message may be in the chat already. */
type KnownFinal = 'cancelled' | 'perhaps_sent' | 'unsent';

async function storeMissingEnd(context: EndContext, known: AgentSession, { end }: EndedRun, as: KnownFinal) {
  const final = { ...finalOf(end, as), mayBeInChat: as !== 'unsent' };
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

/** Whether the session continues elsewhere or goes back to its lane. */
function isNoEnd({ end, stopCause }: EndedRun): boolean {
  return end.kind === 'stopped' || !isOwnEnd(stopCause) || (end.kind === 'failed' && passes(end.cause));
}

/** Whether no other process, and no orderly stop, decided what comes after the run. */
function isOwnEnd(stopCause: StopCause | null): boolean {
  return stopCause === null || stopCause === 'self_fenced';
}

interface KeptEnd {
  readonly ended: EndedRun;
  readonly known: AgentSession;
  /** Null if it was stored as cancelled by a person. */
  readonly run: Run | null;
  /** On the monotonic clock. */
  readonly at: number;
}

/** Ends that were stored recently. A session that was put back to its lane is not among them: it is pending for a reason. */
export class RecentEnds {
  readonly #context: EndContext;
  readonly #isUnderWay: (sessionId: string) => boolean;
  /** By session; the oldest first. */
  readonly #kept = new Newest<string, KeptEnd>(MOST_KEPT);
  readonly #passes = new Coalesced(() => this.#storeEach());

  constructor(context: EndContext, isUnderWay: (sessionId: string) => boolean) {
    this.#context = context;
    this.#isUnderWay = isUnderWay;
  }

  note(ended: EndedRun, run: Run, isCancelled = false): void {
    if (!isCancelled && isNoEnd(ended)) return;
    const { known } = ended;
    if (known !== null) this.#keep({ ended, known, run: isCancelled ? null : run });
  }

  /** An ended run may still hold the lane in a store that lost its last moment. @throws ioredis' error if Redis is unavailable */
  async storeAgainBefore(known: AgentSession, run: Run): Promise<void> {
    const { records } = this.#context.store;
    const { holder } = await records.lane(known.lane);
    if (holder !== run.run_id) await this.storeAgain();
  }

  /** @param session as it was in the store when a person cancelled it while it waited */
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

  /** Asks the store about each end at most twice, however many runs ask for it after a reconnect. @throws ioredis' error */
  storeAgain(): Promise<void> {
    return this.#passes.ask();
  }

  async #storeEach(): Promise<void> {
    this.#forgetOld();
    const { store } = this.#context;
    for (const { ended, known, run } of [...this.#kept.values()]) {
      // The second attempt stores the session's end, if the store has forgotten that attempt: it must not be revived again.
      if (await this.#isFollowed(ended)) continue;
      if (await store.regain.isMissing(ended.sessionId)) {
        // Its final message may be in the chat already; then it must not be sent again.
        await storeMissingEnd(this.#context, known, ended, run === null ? 'cancelled' : 'perhaps_sent');
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
        // It may be stored, with only the reply lost.
        void this.#context.lanes.startNext(known.lane);
      }
    }
  }

  /** Whether a second attempt has taken over the message. */
  async #isFollowed({ sessionId, end }: EndedRun): Promise<boolean> {
    if (end.kind !== 'failed') return false;
    const revival = revivalSessionId(sessionId);
    const { regain } = this.#context.store;
    return this.#kept.has(revival) || this.#isUnderWay(revival) || !(await regain.isMissing(revival));
  }

  #keep(end: Omit<KeptEnd, 'at'>): void {
    this.#kept.set(end.ended.sessionId, { ...end, at: this.#context.clock.monotonic() });
    this.#forgetOld();
  }

  #forgetOld(): void {
    const oldest = this.#context.clock.monotonic() - KEPT_MS;
    for (const [sessionId, { at }] of this.#kept) {
      if (at >= oldest) return;
      this.#kept.delete(sessionId);
    }
  }
}
