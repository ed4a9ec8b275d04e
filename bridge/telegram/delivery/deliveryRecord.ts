/** The stored state of a final message's delivery: the outcome of each part, a later try, or its end. */

import type { AgentSession, DeliveryState, OutboxEntry } from '../../../src/jobs/model.js';
import { pauseAfter, SECOND } from '../../../src/time.js';
import { logDelivery, logUndelivered } from '../../chat/deliveryReport.js';
import type { TelegramFoundation } from '../api.js';
import { BACKOFF, CLOSED_WITHIN_MS, type ClosingLines, GIVEN_UP_AFTER_MS } from './closingLines.js';
import type { Outcome } from './partSender.js';

/** Why a message is tried again, and when. */
interface Later {
  /** The outcome of a part's send is unknown. */
  readonly inDoubt: boolean;
  readonly delayMs: number;
  readonly reason: string;
}

/** Longer than any call of the API may take. */
export const CLAIM_MS = 90 * SECOND;

/** Each change resolves with the entry as stored; null if another process holds the claim now. */
export class DeliveryRecord {
  readonly #base: TelegramFoundation;
  readonly #closing: ClosingLines;

  constructor(base: TelegramFoundation, closing: ClosingLines) {
    this.#base = base;
    this.#closing = closing;
  }

  /** Stores the outcome of a part. @param counted given how many parts are done with it; returns how many need nothing more */
  async note(
    entry: OutboxEntry,
    session: AgentSession | null,
    outcome: Outcome,
    counted: (done: number) => number = (done) => done,
  ) {
    switch (outcome.kind) {
      case 'placed': {
        const next = await this.#partsDone(entry, counted(entry.parts_done + 1));
        await this.#rememberOwn(session, entry, outcome.messageId);
        return next;
      }
      case 'left_out': {
        const { session_id } = entry;
        const { reason } = outcome;
        const said = `session ${session_id}: the answer comes without its file: ${reason}`;
        this.#base.logger.warn({ session_id, reason }, said);
        return this.#partsDone(entry, entry.parts_done + 1);
      }
      case 'again':
        return this.save(entry, { ...outcome.patch, last_error: outcome.reason });
      case 'later': {
        const { patch, inDoubt, reason, longestMs = BACKOFF.longestMs } = outcome;
        const delayMs = outcome.delayMs ?? pauseAfter(entry.tries, { ...BACKOFF, longestMs });
        return this.postpone({ ...entry, ...patch }, session, { inDoubt, delayMs, reason });
      }
      case 'never':
        return this.#giveUp(entry, session, outcome.inDoubt, outcome.reason);
      default:
        return outcome satisfies never;
    }
  }

  async postpone(entry: OutboxEntry, session: AgentSession | null, { inDoubt, delayMs, reason }: Later) {
    const { store, clock, logger } = this.#base;
    if (this.isTooOld(entry)) {
      return this.#giveUp(entry, session, inDoubt || entry.edit_into !== null, `a day has passed: ${reason}`);
    }
    const fields = { session_id: entry.session_id, reason, retry_in_ms: delayMs };
    logger.warn(fields, 'the final message could not be delivered yet');
    return store.outbox.save(entry, {
      state: inDoubt && entry.edit_into === null ? 'sending' : 'queued',
      claimed_until: null,
      due_at: clock.now() + delayMs,
      waits_ms: delayMs,
      last_error: reason,
    });
  }

  isTooOld(entry: OutboxEntry): boolean {
    return this.#base.clock.now() - entry.created_at > GIVEN_UP_AFTER_MS;
  }

  async #giveUp(entry: OutboxEntry, session: AgentSession | null, inDoubt: boolean, reason: string) {
    const state = inDoubt ? 'unknown' : 'given_up';
    // Still ours: no line may announce an end that another process has prevented.
    const held = await this.save(entry, { last_error: reason });
    if (held === null) return null;
    await logUndelivered(this.#base, { ...held, state }, session);
    return this.finish(held, session, state, reason);
  }

  async finish(entry: OutboxEntry, session: AgentSession | null, state: DeliveryState, reason: string | null) {
    const { store, clock, logger } = this.#base;
    const due_at = clock.now() + CLOSED_WITHIN_MS;
    const last_error = reason ?? entry.last_error;
    const next = await store.outbox.save(entry, {
      state,
      // The claim covers the last line: if this process dies before it has written it, the next one need not wait.
      claimed_until: entry.progress_message_id === null ? null : due_at,
      due_at,
      waits_ms: CLOSED_WITHIN_MS,
      last_error,
    });
    if (next === null) return null;
    logDelivery(logger, next, clock.now());
    this.#closing.write(next, session);
    return next;
  }

  /** They need nothing more. */
  #partsDone(entry: OutboxEntry, parts_done: number): Promise<OutboxEntry | null> {
    return this.save(entry, { parts_done, edit_into: null, last_error: null });
  }

  /** Keeps the claim for one more call. */
  save(entry: OutboxEntry, patch: Partial<OutboxEntry>): Promise<OutboxEntry | null> {
    const until = this.#base.clock.now() + CLAIM_MS;
    return this.#base.store.outbox.save(entry, { ...patch, claimed_until: until, due_at: until, waits_ms: CLAIM_MS });
  }

  async #rememberOwn(session: AgentSession | null, entry: OutboxEntry, messageId: string): Promise<void> {
    if (session === null) return;
    const { store, logger } = this.#base;
    // Only a reply to this very message would miss it.
    const inChat = { ...session, request: { ...session.request, chat_id: entry.chat_id } };
    try {
      await store.chatMemory.recordOwnMessage(inChat, messageId, await this.#base.numbers.markIn(entry.chat_id));
    } catch (err) {
      logger.warn({ err, session_id: entry.session_id }, 'the message id of an answer was not stored');
    }
  }
}
