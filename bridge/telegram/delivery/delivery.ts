/**
 * Delivers a session's final message to a Telegram chat: at most one send of each part's text, and at least one send or edit
 * that holds it, or a recorded give-up.
 *
 * ```text
 * queued ──claim──▶ sending ──all parts placed──▶ sent
 *    ▲                 │ not reached, limited: certainly nothing happened
 *    └─────────────────┤
 *                      ├── refused for good, or a day old ──▶ given_up (unknown, if a part is in doubt)
 *                      └── the outcome of a part's send is unknown: the part is *in doubt*
 * ```
 *
 * A part in doubt is never sent again. It is put by an edit into a placeholder, which may be repeated because it is not the
 * text. The progress message never holds it, because another process may still edit that and must not overwrite the part.
 *
 * An entry was interrupted if it is found `sending` and its claim has expired, or belongs to a process that is proven dead or
 * was interrupted by the store: its next part is in doubt as well. In the record, `sending` without `edit_into` and without a
 * claim means "in doubt, place still to be found". An entry whose delivery has ended is due until its progress message has its
 * last line. A file, the last part of a long text, needs no place: in doubt, refused or a day old, it is left out, and the log
 * says so.
 */
import { acceptedAt } from '../../../src/jobs/acceptedAt.js';
import type { AgentSession, DeliveryState, OutboxEntry } from '../../../src/jobs/model.js';
import { isLastLineDue } from '../../../src/jobs/outbox.js';
import type { Service } from '../../../src/service.js';
import type { Timer } from '../../../src/time.js';
import { deliveryState, type FirstWord, type WaitingChat } from '../../chat/chatRouter.js';
import { excerptOf } from '../../chat/excerpt.js';
import type { Register } from '../../chat/foundation.js';
import { type FinalText, finalTextOf } from '../../chat/sendLine.js';
import type { SendMemory } from '../../chat/sendMemory.js';
import type { TelegramFoundation } from '../api.js';
import { ChatTurns } from '../chatTurns.js';
import { type AnswerPart, answerParts, asNoReply, isFile, messagesIn, partsDone } from '../markdown/answerParts.js';
import type { ProgressDisplay } from '../progress/progress.js';
import { ClosingLines } from './closingLines.js';
import { CLAIM_MS, DeliveryRecord } from './deliveryRecord.js';
import { type Outcome, PartSender } from './partSender.js';

const FILE_TOO_LATE: Outcome = { kind: 'left_out', reason: 'a day has passed' };

/** Telegram as the place where people read. As a service it only stops: nothing of it runs until it is called. */
export class TelegramDelivery implements WaitingChat, Service {
  readonly name = 'telegram chat';
  readonly #base: TelegramFoundation;
  readonly #progress: ProgressDisplay;
  readonly #memory: SendMemory;
  readonly #drainMs: number;
  readonly #sender: PartSender;
  readonly #turns: ChatTurns;
  readonly #underWay = new Set<string>();
  /** Interrupted by the store: a claim of ours may be left that this process no longer works on. */
  readonly #interrupted = new Set<string>();
  readonly #record: DeliveryRecord;
  readonly #closing: ClosingLines;
  /** Aborted when current sends are abandoned: their outcome is then unknown, and settled at the next start. */
  readonly #ending = new AbortController();
  #deadline: Timer | null = null;
  #isStopping = false;

  /** @param drainMs how long current sends may take once the bridge stops, in milliseconds */
  constructor(base: TelegramFoundation & Register, progress: ProgressDisplay, memory: SendMemory, drainMs: number) {
    this.#base = base;
    this.#progress = progress;
    this.#memory = memory;
    this.#drainMs = drainMs;
    this.#turns = new ChatTurns(base);
    this.#sender = new PartSender(base.api, memory, this.#ending.signal);
    this.#closing = new ClosingLines(base, progress.edits, this.#ending.signal);
    this.#record = new DeliveryRecord(base, this.#closing);
  }

  async start(): Promise<void> {}

  /** @throws ConflictError if the session has no final message; ioredis' error if Redis is unreachable */
  async deliver(sessionId: string): Promise<DeliveryState> {
    if (this.#underWay.has(sessionId)) return deliveryState(this.#base.store, sessionId);
    this.#underWay.add(sessionId);
    try {
      const state = await this.#deliverParts(sessionId);
      this.#interrupted.delete(sessionId);
      return state;
    } catch (error) {
      this.#interrupted.add(sessionId);
      throw error;
    } finally {
      this.#underWay.delete(sessionId);
    }
  }

  showProgress(sessionId: string, text: string): Promise<void> {
    return this.#progress.showProgress(sessionId, text);
  }

  showWaiting(session: AgentSession, text: string, word: FirstWord): Promise<boolean> {
    return this.#progress.showWaiting(session, text, word);
  }

  /** The bridge stops: after `drainMs` nothing more is sent. Texts that are not settled then wait for the next start. */
  stopSoon(): void {
    this.#deadline ??= this.#base.clock.after(this.#drainMs, () => {
      this.#isStopping = true;
      this.#ending.abort();
    });
  }

  /** After the runs and before the delivery service: the current part is still sent, the rest stays for the next start. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.stopSoon();
    await Promise.all([this.#closing.settled(), this.#progress.stop()]);
  }

  async #deliverParts(sessionId: string): Promise<DeliveryState> {
    const { store, here, redact } = this.#base;
    const claimed = await store.outbox.claim(sessionId, CLAIM_MS, here, this.#interrupted.has(sessionId));
    if (claimed === null) return this.#closeIfDue(sessionId);
    const session = await store.records.session(sessionId);
    const progress = await this.#progress.quiet(sessionId);
    this.#closing.expectMovedClock(sessionId, progress.clockMovedMs);
    if (progress.mayComeLate) this.#closing.expectLateEdit(sessionId);
    const isForeign = session !== null && (await this.#base.numbers.areForeign(session));
    const rendered = answerParts(claimed.entry.text, redact, session?.project_key ?? null);
    const excerpt = session === null ? '' : excerptOf(session, redact);
    const hasMoved = session !== null && session.request.chat_id !== claimed.entry.chat_id;
    const progressId = claimed.entry.progress_message_id ?? (hasMoved ? null : progress.messageId);
    let entry: OutboxEntry | null = { ...claimed.entry, progress_message_id: progressId };
    let inDoubt = claimed.before.state === 'sending' && entry.edit_into === null;
    if (isForeign) {
      // Its messages are numbered by another bot: for this one the numbers are those of others.
      inDoubt ||= entry.edit_into !== null;
      entry = await this.#record.save(entry, { reply_to: null, progress_message_id: null, edit_into: null });
      if (entry === null) return deliveryState(store, sessionId);
    }
    const messageAt = session === null ? null : await acceptedAt(store.records, session);
    const text = finalTextOf(entry, messagesIn(rendered), messageAt);
    const known = Math.min(await this.#memory.partsSent(text), rendered.length);
    const partsSent = partsDone(rendered, known, known > entry.parts_done);
    if (partsSent > entry.parts_done) {
      entry = await this.#record.save(entry, { parts_done: partsSent, edit_into: null });
      inDoubt = false;
    }
    let held = entry;
    let hasArrived = false;
    while (entry !== null && entry.state === 'sending' && entry.claimed_until !== null) {
      held = entry;
      // Each try may have moved it.
      const about = aboutIn(entry, session, isForeign);
      const parts = about === null ? rendered : asNoReply(rendered, about, excerpt);
      const part = parts[entry.parts_done];
      if (entry.quiet === true && part !== undefined) {
        await this.#memory.arrived(text, entry.parts_done);
        entry = await this.#record.save(entry, { parts_done: entry.parts_done + 1 });
      } else if (part === undefined) {
        hasArrived = true;
        entry = await this.#record.finish(entry, session, 'sent', null);
      } else if (isFile(part) && this.#record.isTooOld(entry)) {
        entry = await this.#record.note(entry, session, FILE_TOO_LATE);
      } else if (this.#isStopping) {
        const later = { inDoubt, delayMs: 0, reason: 'the bridge was stopped' };
        entry = await this.#record.postpone(entry, session, later);
      } else {
        ({ entry, inDoubt, hasArrived } = await this.#placePart({ entry, session, text, parts, part, inDoubt }));
      }
    }
    if (entry === null && hasArrived && held !== null && (await store.records.outboxEntry(sessionId)) === null) {
      // Redis has forgotten the entry: no other process knows of a progress message that still shows work.
      this.#closing.write({ ...held, state: 'sent' }, session);
      return 'sent';
    }
    return entry?.state ?? deliveryState(store, sessionId);
  }

  /** Sends a part if it is the chat's turn; postpones it if it is not. */
  async #placePart({ entry, session, text, parts, part, inDoubt }: DuePart): Promise<PlacedPart> {
    const turn = await this.#turns.take(entry.chat_id, entry.session_id);
    if (turn.kind === 'wait') {
      // Nothing was tried.
      const untried = { ...entry, tries: entry.tries - 1 };
      const postponed = await this.#record.postpone(untried, session, { inDoubt, ...turn });
      return { entry: postponed, inDoubt, hasArrived: false };
    }
    const mayMove = session === null || session.request.chat_id === entry.chat_id;
    const outcome: Outcome = await this.#sender.place({ entry, text, part, inDoubt, mayMove });
    await this.#turns.note(entry.chat_id, turn, pauseOf(outcome));
    const isPlaced = outcome.kind === 'placed';
    const isTooLate = isFile(part) && outcome.kind === 'later' && this.#record.isTooOld(entry);
    const noted = await this.#record.note(entry, session, isTooLate ? FILE_TOO_LATE : outcome, (done) =>
      partsDone(parts, done, isPlaced),
    );
    return {
      entry: noted,
      inDoubt: outcome.kind === 'again' && outcome.inDoubt,
      hasArrived: isPlaced && partsDone(parts, entry.parts_done + 1, true) === parts.length,
    };
  }

  /** The message has arrived, or another process delivers it: perhaps its progress message still needs its last line. */
  async #closeIfDue(sessionId: string): Promise<DeliveryState> {
    const { store, clock, here } = this.#base;
    const entry = await store.records.outboxEntry(sessionId);
    const isDue = entry !== null && isLastLineDue(entry, here, clock.now());
    const session = isDue && !this.#isStopping ? await store.records.session(sessionId) : null;
    const isForeign = session !== null && (await this.#base.numbers.areForeign(session));
    if (isDue && isForeign) await store.outbox.save(entry, { progress_message_id: null });
    else if (isDue && !this.#isStopping) this.#closing.write(entry, session);
    return deliveryState(store, sessionId);
  }
}

interface DuePart {
  readonly entry: OutboxEntry;
  readonly session: AgentSession | null;
  readonly text: FinalText;
  readonly parts: readonly AnswerPart[];
  readonly part: AnswerPart;
  /** Whether an earlier try may have sent it. */
  readonly inDoubt: boolean;
}

interface PlacedPart {
  /** Null if another process changed it. */
  readonly entry: OutboxEntry | null;
  readonly inDoubt: boolean;
  /** Whether it was the last part. */
  readonly hasArrived: boolean;
}

/** @returns what an answer is about that cannot be a reply, as its message is another bot's or in another place; null if it can be one */
function aboutIn({ chat_id, thread_id }: OutboxEntry, session: AgentSession | null, isForeign: boolean): string | null {
  if (isForeign) return 'your message to the former bot';
  const isElsewhere = chat_id !== session?.request.chat_id || thread_id !== session.request.thread_id;
  return session !== null && isElsewhere ? 'your message' : null;
}

/** @returns the pause that the chat asked for, in milliseconds; null if it asked for none */
function pauseOf(outcome: Outcome): number | null {
  return outcome.kind === 'later' && outcome.isLimited === true ? (outcome.delayMs ?? 0) : null;
}
