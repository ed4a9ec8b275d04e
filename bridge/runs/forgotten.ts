/**
 * A Redis that loses its last moment, as a failover does, forgets that a run began or how it ended: the session stands there
 * as it stood before. The bridge that ran it knows better, and says so again before anything else is begun.
 */
import type { Run } from '../../src/model.js';
import type { Store } from '../../src/store/store.js';
import { type Clock, MINUTE } from '../../src/time.js';
import { type EndContext, type EndedRun, storeEnd } from './storeEnd.js';

/** A failover may be noticed late; what it loses is the last second before it. */
const KEPT_MS = 5 * MINUTE;
const MOST_KEPT = 200;

export interface ReclaimContext {
  readonly store: Store;
  readonly runLeaseMs: number;
}

/**
 * A session that is pending although its run has begun was forgotten: nothing else puts it back while the run lives.
 * @returns whether the store knows the run as the session's, by its own memory or begun there again; false where the
 *   session or its lane belongs to somebody else
 */
export async function reclaimRun(context: ReclaimContext, sessionId: string, run: Run): Promise<boolean> {
  const { records, transitions } = context.store;
  const found = await records.session(sessionId);
  if (found?.status === 'active') return found.run?.run_id === run.run_id;
  if (found?.status !== 'pending') return false;
  return (await transitions.start(found, run, context.runLeaseMs)) !== null;
}

export interface EndsContext extends ReclaimContext, EndContext {
  readonly clock: Clock;
  seeToLane(lane: string): void;
}

interface KeptEnd {
  readonly ended: EndedRun;
  readonly run: Run;
  /** On the monotonic clock. */
  readonly at: number;
}

/** Ends that were stored lately. One that puts its session back to its lane is none: there it is pending rightly. */
export class RecentEnds {
  readonly #context: EndsContext;
  /** By session; the oldest first. */
  readonly #kept = new Map<string, KeptEnd>();

  constructor(context: EndsContext) {
    this.#context = context;
  }

  note(ended: EndedRun, run: Run): void {
    if (ended.end.kind === 'stopped' || ended.stopCause !== null) return;
    if (ended.end.kind === 'failed' && ended.end.cause === 'rate_limit') return;
    this.#kept.delete(ended.sessionId);
    this.#kept.set(ended.sessionId, { ended, run, at: this.#context.clock.monotonic() });
    this.#forgetOld();
  }

  has(sessionId: string): boolean {
    this.#forgetOld();
    return this.#kept.has(sessionId);
  }

  /**
   * Changes nothing where nothing was forgotten.
   * @throws ioredis' error where Redis is away
   */
  async storeAgain(): Promise<void> {
    this.#forgetOld();
    for (const { ended, run } of [...this.#kept.values()]) {
      if (!(await reclaimRun(this.#context, ended.sessionId, run))) continue;
      try {
        await storeEnd(this.#context, ended);
      } finally {
        // Stored perhaps, and only the answer lost.
        if (ended.known !== null) this.#context.seeToLane(ended.known.lane);
      }
    }
  }

  #forgetOld(): void {
    const oldest = this.#context.clock.monotonic() - KEPT_MS;
    for (const [sessionId, { at }] of this.#kept) {
      if (at >= oldest && this.#kept.size <= MOST_KEPT) return;
      this.#kept.delete(sessionId);
    }
  }
}
