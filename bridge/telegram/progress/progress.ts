/**
 * One progress message per session, edited in place, and the typing indicator. Each session has one loop, so that no two calls
 * for it are ever in progress; every call may be lost.
 *
 * A message whose id is not in the record gets no last line, so it never shows anything that the end of its run would make
 * untrue. The disk knows it, too: a store that is restored to an older state may forget it.
 */
import { failpoint } from '../../../src/failpoints.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { atMost, SECOND } from '../../../src/time.js';
import type { AcceptanceClocks } from '../../chat/acceptanceClocks.js';
import type { FirstWord } from '../../chat/chatRouter.js';
import { type Activity, type ProgressView, statusLine } from '../../chat/progressView.js';
import type { TelegramFoundation, Text } from '../api.js';
import { asChatError, ChatError } from '../chatError.js';
import { renderClean } from '../markdown/render.js';
import { KnownMessages } from './knownMessages.js';
import type { ProgressEdits, QuietProgress } from './progressEdits.js';
import type { ProgressMemory } from './progressMemory.js';
import { begunText, progressText, STARTED } from './progressText.js';
import { learn, learnOfTyping, newlyShown, reasonOf, type Shown } from './shownProgress.js';
import { WaitingMessages } from './waitingMessages.js';

/** Telegram shows it for five seconds. */
const TYPING_EVERY_MS = 4.5 * SECOND;
const END_LIMIT_MS = 5 * SECOND;

export class ProgressDisplay implements ProgressView {
  readonly edits: ProgressEdits;
  readonly #base: TelegramFoundation;
  readonly #memory: ProgressMemory;
  readonly #everyMs: number;
  readonly #clocks: AcceptanceClocks;
  readonly #shown = new Map<string, Shown>();
  readonly #known: KnownMessages;
  readonly #waiting: WaitingMessages;

  /** @param memory which message it is, should the store forget it. @param everyMs the least time between two edits of it */
  constructor(
    base: TelegramFoundation,
    edits: ProgressEdits,
    memory: ProgressMemory,
    everyMs: number,
    clocks: AcceptanceClocks,
  ) {
    this.#clocks = clocks;
    this.#base = base;
    this.edits = edits;
    this.#memory = memory;
    this.#everyMs = everyMs;
    this.#known = new KnownMessages(base, memory);
    this.#waiting = new WaitingMessages(base, edits, this.#known);
  }

  begin(session: AgentSession): void {
    const id = session.session_id;
    const former = this.#shown.get(id);
    former?.ended.abort();
    const forgotten = this.#known.forgotten(session);
    const shown = newlyShown(session, forgotten, this.#base.clock, this.#clocks);
    this.#shown.set(id, shown);
    const handedOver = this.#waiting.handOver(session, shown.abandoned.signal);
    shown.loop = Promise.all([handedOver, former?.loop]).then(([messageId]) => {
      shown.messageId ??= messageId;
      return this.#run(shown);
    });
  }

  update(sessionId: string, activity: Activity): void {
    const shown = this.#shown.get(sessionId);
    if (shown !== undefined) shown.activity = activity;
  }

  async end(sessionId: string): Promise<void> {
    const shown = this.#shown.get(sessionId);
    if (shown === undefined) return;
    shown.ended.abort();
    await atMost(this.#base.clock, END_LIMIT_MS, shown.loop, undefined);
    shown.abandoned.abort();
    await shown.loop;
    if (this.#shown.get(sessionId) !== shown) return;
    this.#shown.delete(sessionId);
    const { messageId, mayComeLate } = shown;
    const clockMovedMs = this.#clocks.aheadNow() - shown.clockAheadMs;
    this.#known.leave(sessionId, { messageId, mayComeLate, clockMovedMs });
  }

  /** As {@link end}. @returns its remains */
  async quiet(sessionId: string): Promise<QuietProgress> {
    await this.end(sessionId);
    return this.#known.leftOf(sessionId);
  }

  messageOf(sessionId: string): string | null {
    return this.#shown.get(sessionId)?.messageId ?? null;
  }

  describe(sessionId: string): string | null {
    const activity = this.#shown.get(sessionId)?.activity ?? null;
    return activity === null ? null : this.#base.redact(statusLine(activity, this.#base.clock.monotonic()));
  }

  /** Into the session's message, or its predecessor's; a run that is working shows what it knows instead. Never throws. */
  async showProgress(sessionId: string, text: string): Promise<void> {
    try {
      const [words] = renderClean(text, this.#base.redact).parts;
      if (words === undefined || (await this.#sayAtWork(sessionId, words))) return;
      await this.end(sessionId);
      await this.#waiting.put(sessionId, words);
    } catch (err) {
      this.#base.logger.warn({ err, session_id: sessionId }, 'the progress message could not be changed');
    }
  }

  /** As {@link WaitingMessages.show}. */
  async showWaiting(session: AgentSession, text: string, word: FirstWord): Promise<boolean> {
    if (this.#shown.has(session.session_id)) return true;
    return this.#waiting.show(session, text, word, this.#runningIn(session.request.chat_id));
  }

  /** Ends every display; resolves when no call is in progress. */
  async stop(): Promise<void> {
    await Promise.all([...this.#shown.keys()].map((sessionId) => this.end(sessionId)));
  }

  /** A second attempt that has begun shows the reason itself, if it knows one. @returns false if no run is shown */
  async #sayAtWork(sessionId: string, words: Text): Promise<boolean> {
    const shown = this.#shown.get(sessionId);
    if (shown === undefined || shown.ended.signal.aborted) return false;
    if ((await this.edits.stateOf(shown.session)) !== 'working') return false;
    shown.reason ??= await reasonOf(this.#base.store.records, shown.session);
    if (shown.reason !== null) return true;
    shown.nextEditAt = this.#base.clock.monotonic() + this.#everyMs;
    if (shown.messageId !== null) await this.#edit(shown, shown.messageId, words);
    return true;
  }

  async #run(shown: Shown): Promise<void> {
    const { clock, logger } = this.#base;
    while (!shown.ended.signal.aborted && !shown.isOver) {
      try {
        if (await this.#base.numbers.areForeign(shown.session)) return;
        // Another process may have ended the session, or shown something else there.
        const state = await this.edits.stateOf(shown.session);
        if (state === 'over') return;
        const isAtWork = () => state === 'working' && !shown.ended.signal.aborted;
        if (isAtWork() && clock.monotonic() >= shown.nextEditAt) await this.#show(shown);
        if (isAtWork() && clock.monotonic() >= shown.nextTypingAt) await this.#type(shown);
      } catch (err) {
        logger.debug({ err, session_id: shown.session.session_id }, 'progress could not be shown or recorded');
      }
      // If nothing was tried, the next look is not at once.
      if (shown.nextEditAt <= clock.monotonic()) shown.nextEditAt = clock.monotonic() + this.#everyMs;
      if (shown.nextTypingAt <= clock.monotonic()) shown.nextTypingAt = clock.monotonic() + TYPING_EVERY_MS;
      await clock.sleep(Math.min(shown.nextEditAt, shown.nextTypingAt) - clock.monotonic(), shown.ended.signal);
    }
  }

  async #show(shown: Shown): Promise<void> {
    const { clock, logger, redact, store } = this.#base;
    const { session, activity } = shown;
    shown.nextEditAt = clock.monotonic() + this.#everyMs;
    shown.reason ??= await reasonOf(store.records, session);
    const begun = shown.hasBegun ? null : begunText(session, redact, shown.reason?.announced ?? null);
    const text = begun ?? progressText(activity, session, clock.monotonic(), redact, shown.reason?.text);
    await this.#record(shown);
    try {
      const isNew = text !== null && text.plain !== shown.text;
      if (shown.messageId === null) await this.#send(shown);
      else if (shown.isRecorded && isNew && !this.#isHeldBack(shown)) await this.#edit(shown, shown.messageId, text);
    } catch (error) {
      const failure = asChatError(error);
      learn(shown, failure, clock.monotonic());
      const fields = { err: failure, session_id: session.session_id };
      if (!shown.abandoned.signal.aborted) logger.debug(fields, 'a progress line was dropped');
    }
    await this.#record(shown);
  }

  /** A group's limit is kept for answers: then the line is shown later. */
  #isHeldBack(shown: Shown): boolean {
    const { api, clock } = this.#base;
    const { chat_id } = shown.session.request;
    const waitMs = api.spending.waitForLine(
      chat_id,
      this.#runningIn(chat_id),
      shown.messageId === null ? 'first' : 'edit',
    );
    if (waitMs > 0) shown.nextEditAt = clock.monotonic() + waitMs;
    return waitMs > 0;
  }

  #runningIn(chatId: string): number {
    return [...this.#shown.values()].filter(({ session }) => session.request.chat_id === chatId).length;
  }

  async #send(shown: Shown): Promise<void> {
    if (this.#isHeldBack(shown)) return;
    const { session } = shown;
    const { chat_id: chatId, thread_id: threadId, message_id: replyTo } = session.request;
    const to = { chatId, threadId, replyTo };
    const signal = shown.abandoned.signal;
    failpoint('progress.send.before');
    const messageId = await this.#base.api.sendMessage(to, { plain: STARTED, html: null }, { silent: true, signal });
    failpoint('progress.send.after');
    Object.assign(shown, { messageId, text: STARTED, hasBegun: true, refusals: 0 });
    await this.#memory.remember(session, messageId);
  }

  /** Not if the session no longer belongs to this run. */
  async #record(shown: Shown): Promise<void> {
    const { session, messageId: progressMessageId } = shown;
    if (shown.isRecorded || progressMessageId === null || session.run === null) return;
    const recorded = this.#base.store.transitions.recordRun(session.session_id, session.run.run_id, {
      progressMessageId,
    });
    shown.isRecorded = (await recorded) !== null;
  }

  async #edit(shown: Shown, messageId: string, text: Text): Promise<void> {
    const { session, abandoned } = shown;
    if (await this.#base.numbers.areForeign(session)) return;
    const message = { sessionId: session.session_id, chatId: session.request.chat_id, messageId };
    const mayEdit = async () => (await this.edits.stateOf(session)) === 'working';
    failpoint('progress.edit.before');
    shown.hasBegun = true;
    const isShown = await this.edits.edit(message, text, mayEdit, abandoned.signal);
    failpoint('progress.edit.after');
    if (isShown) Object.assign(shown, { text: text.plain, refusals: 0 });
  }

  async #type(shown: Shown): Promise<void> {
    const { clock, api } = this.#base;
    shown.nextTypingAt = clock.monotonic() + TYPING_EVERY_MS;
    const { chat_id, thread_id } = shown.session.request;
    if (api.spending.banMs(chat_id, 'sendChatAction') > 0) return;
    await api.showTyping(chat_id, thread_id, shown.abandoned.signal).catch((error: unknown) => {
      if (error instanceof ChatError) learnOfTyping(shown, error, clock.monotonic());
    });
  }
}
