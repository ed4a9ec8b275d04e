/**
 * Looks for records that nothing would ever bring to an end, and ends each with a reason in the log; a message that does not
 * end as it should is reported as a critical event. The acting watchdog's tick does a bounded round every five minutes.
 */
import { describeError, FencedError } from '../../src/errors.js';
import type { Stray } from '../../src/jobs/straySessions.js';
import { MINUTE } from '../../src/time.js';
import { noticeEvent, writeEvent } from '../events/notice.js';
import { CANCELLED_TEXT, FAILURE_PARAGRAPH } from '../incident/texts/chatTexts.js';
import type { ForgottenIncidents } from './forgottenIncidents.js';
import type { Round, RoundContext } from './round.js';
import type { UnreadableRecords } from './unreadableRecords.js';

const ROUND_EVERY_MS = 5 * MINUTE;
const TEXTS = { failed: FAILURE_PARAGRAPH, cancelled: CANCELLED_TEXT };

export interface StrayContext extends RoundContext {
  readonly runLeaseMs: number;
  readonly unreadable: UnreadableRecords;
  readonly forgottenIncidents: ForgottenIncidents;
}

export class StrayRound implements Round {
  readonly #context: StrayContext;
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(context: StrayContext) {
    this.#context = context;
  }

  async runIfDue(): Promise<void> {
    const { clock, logger } = this.#context;
    if (clock.monotonic() < this.#dueAt) return;
    this.#dueAt = clock.monotonic() + ROUND_EVERY_MS;
    try {
      await this.runOnce();
    } catch (err) {
      if (err instanceof FencedError) return;
      logger.warn({ err }, `stray sessions will be checked again in five minutes: ${describeError(err)}`);
    }
  }

  /** @returns what one round has ended */
  async runOnce(): Promise<Stray[]> {
    const { store, logger, runLeaseMs, folders } = this.#context;
    const mended: Stray[] = [];
    for (const stray of await store.strays.find(runLeaseMs, TEXTS)) {
      // Before the commit: repeating it does no harm, but forgetting it would lose it.
      if (stray.lost !== undefined) await this.#report(stray, stray.lost);
      if (!(await store.strays.mend(stray, folders.guard()))) continue;
      mended.push(stray);
      logger.warn({ reason: stray.reason, id: stray.id }, `${stray.id} ${stray.end}`);
    }
    // Anywhere in the queue: a session in no lane is nobody's head.
    await this.#context.unreadable.setWaitingAside(store.strays.unread.map((sessionId) => ({ sessionId, lane: null })));
    await this.#context.forgottenIncidents.end();
    return mended;
  }

  async #report({ reason, id }: Stray, { sessionId, projectKey }: NonNullable<Stray['lost']>): Promise<void> {
    const { store, events, clock, logger, folders } = this.#context;
    await store.leases.require(folders.guard());
    const notice = {
      incident_id: `stray-${id}`,
      step: 'detected',
      final: true,
      event: 'session_unrecoverable',
      session_id: sessionId,
      project_key: projectKey,
      reason,
      details: null,
    } as const;
    await writeEvent(events, logger, noticeEvent(notice, clock.now()));
  }
}
