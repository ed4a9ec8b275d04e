/** The stored state of a final message's delivery: the outcome of each part, a later try, or its end. */
import { type Backoff, pauseAfter } from '../../src/backoff.js';
import type { AgentSession, DeliveryState, OutboxEntry } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import { DAY, MINUTE, SECOND } from '../../src/time.js';
import { logDelivery } from '../chat/deliveryLog.js';
import { logUndelivered, type Undelivered } from '../chat/undelivered.js';
import { CLOSED_WITHIN_MS, type ClosingLines } from './closingLines.js';
import type { Outcome } from './partSender.js';

export interface DeliveryRecordParts extends Undelivered {
  readonly store: Store;
}

/** Why a message is tried again, and when. */
interface Later {
  /** The outcome of a part's send is unknown. */
  readonly inDoubt: boolean;
  readonly delayMs: number;
  readonly reason: string;
}

const GIVEN_UP_AFTER_MS = DAY;
const BACKOFF: Backoff = { firstMs: SECOND, longestMs: MINUTE };

/** Each change resolves with the entry as stored; null if another process holds the claim now. */
export class DeliveryRecord {
  private readonly parts: DeliveryRecordParts;
  private readonly closing: ClosingLines;
  private readonly claimMs: number;

  /** @param claimMs longer than any call of the API may take, in milliseconds */
  constructor(parts: DeliveryRecordParts, closing: ClosingLines, claimMs: number) {
    this.parts = parts;
    this.closing = closing;
    this.claimMs = claimMs;
  }

  /** Stores the outcome of a part. */
  async note(entry: OutboxEntry, session: AgentSession | null, outcome: Outcome) {
    switch (outcome.kind) {
      case 'placed': {
        const next = await this.partDone(entry);
        await this.rememberOwn(session, entry, outcome.messageId);
        return next;
      }
      case 'left_out':
        this.parts.logger.warn(
          { session_id: entry.session_id, reason: outcome.reason },
          `session ${entry.session_id}: the answer comes without its file: ${outcome.reason}`,
        );
        return this.partDone(entry);
      case 'again':
        return this.save(entry, { ...outcome.patch, last_error: outcome.reason });
      case 'later':
        return this.postpone({ ...entry, ...outcome.patch }, session, {
          inDoubt: outcome.inDoubt,
          delayMs:
            outcome.delayMs ??
            pauseAfter(entry.tries, { ...BACKOFF, longestMs: outcome.longestMs ?? BACKOFF.longestMs }),
          reason: outcome.reason,
        });
      case 'never':
        return this.giveUp(entry, session, outcome.inDoubt, outcome.reason);
      default:
        return outcome satisfies never;
    }
  }

  async postpone(entry: OutboxEntry, session: AgentSession | null, { inDoubt, delayMs, reason }: Later) {
    const now = this.parts.clock.now();
    const isDoubtful = inDoubt || entry.edit_into !== null;
    if (this.isTooOld(entry)) {
      return this.giveUp(entry, session, isDoubtful, `a day has passed: ${reason}`);
    }
    this.parts.logger.warn(
      { session_id: entry.session_id, reason, retry_in_ms: delayMs },
      'the final message could not be delivered yet',
    );
    return this.parts.store.outbox.save(entry, {
      state: inDoubt && entry.edit_into === null ? 'sending' : 'queued',
      claimed_until: null,
      due_at: now + delayMs,
      last_error: reason,
    });
  }

  isTooOld(entry: OutboxEntry): boolean {
    return this.parts.clock.now() - entry.created_at > GIVEN_UP_AFTER_MS;
  }

  private async giveUp(entry: OutboxEntry, session: AgentSession | null, inDoubt: boolean, reason: string) {
    const state = inDoubt ? 'unknown' : 'given_up';
    // Still ours: no line may announce an end that another process has prevented.
    const held = await this.save(entry, { last_error: reason });
    if (held === null) return null;
    await logUndelivered(this.parts, { ...held, state }, session);
    return this.finish(held, session, state, reason);
  }

  /** The message's delivery has ended. */
  async finish(entry: OutboxEntry, session: AgentSession | null, state: DeliveryState, reason: string | null) {
    const next = await this.parts.store.outbox.save(entry, {
      state,
      claimed_until: null,
      due_at: this.parts.clock.now() + CLOSED_WITHIN_MS,
      last_error: reason ?? entry.last_error,
    });
    if (next === null) return null;
    logDelivery(this.parts.logger, next, this.parts.clock.now());
    this.closing.write(next, session);
    return next;
  }

  /** The part needs nothing more. */
  private partDone(entry: OutboxEntry): Promise<OutboxEntry | null> {
    return this.save(entry, { parts_done: entry.parts_done + 1, edit_into: null, last_error: null });
  }

  /** Keeps the claim for one more call. */
  save(entry: OutboxEntry, patch: Partial<OutboxEntry>): Promise<OutboxEntry | null> {
    const until = this.parts.clock.now() + this.claimMs;
    return this.parts.store.outbox.save(entry, { ...patch, claimed_until: until, due_at: until });
  }

  private async rememberOwn(session: AgentSession | null, entry: OutboxEntry, messageId: string): Promise<void> {
    if (session === null) return;
    const { chatMemory } = this.parts.store;
    // Only a reply to this very message would miss it.
    const inChat = { ...session, request: { ...session.request, chat_id: entry.chat_id } };
    await chatMemory.recordOwnMessage(inChat, messageId).catch((err: unknown) => {
      this.parts.logger.warn({ err, session_id: entry.session_id }, 'the message id of an answer was not stored');
    });
  }
}
