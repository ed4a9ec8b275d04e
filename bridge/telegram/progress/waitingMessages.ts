/** A silent progress message for people whose message waits. The run takes it over when it begins. */
import type { AgentSession } from '../../../src/jobs/model.js';
import { Newest } from '../../../src/newest.js';
import type { FirstWord } from '../../chat/chatRouter.js';
import type { TelegramFoundation, Text } from '../api.js';
import { asChatError, ChatError } from '../chatError.js';
import { renderClean } from '../markdown/render.js';
import type { KnownMessages } from './knownMessages.js';
import type { ProgressEdits } from './progressEdits.js';

/** Sends whose message the run that begins may have to take over; chats that want a pause. */
const MOST_REMEMBERED = 500;

interface Sending {
  readonly messageId: Promise<string | null>;
  readonly abandoned: AbortController;
}

export class WaitingMessages {
  readonly #base: TelegramFoundation;
  readonly #edits: ProgressEdits;
  readonly #known: KnownMessages;
  readonly #sent = new Newest<string, Sending>(MOST_REMEMBERED);
  /** Chats that were asked to wait, on the monotonic clock. */
  readonly #pausedUntil = new Newest<string, number>(MOST_REMEMBERED);

  constructor(base: TelegramFoundation, edits: ProgressEdits, known: KnownMessages) {
    this.#base = base;
    this.#edits = edits;
    this.#known = known;
  }

  /** @param running messages of the chat @returns false if it should be tried again later @throws ioredis' error */
  async show(session: AgentSession, text: string, word: FirstWord, running: number): Promise<boolean> {
    const { api, clock, numbers, redact, logger } = this.#base;
    const [words] = renderClean(text, redact).parts;
    if (words === undefined || (await numbers.areForeign(session))) return true;
    const { session_id, request } = session;
    const { chat_id: chatId } = request;
    const messageId = (await this.#known.messageOf(session)) ?? (await this.#sent.get(session_id)?.messageId) ?? null;
    // Whether it arrived is unknown: another one would perhaps be a second one.
    if (messageId === null && this.#sent.has(session_id)) return true;
    if (clock.monotonic() < (this.#pausedUntil.get(chatId) ?? 0)) return false;
    if (api.spending.waitForLine(chatId, running, messageId === null ? 'first' : 'edit') > 0) return false;
    try {
      if (messageId === null) await this.#send(session, words, word);
      else await this.#edits.edit({ sessionId: session_id, chatId, messageId }, words, () => this.#waits(session_id));
      return true;
    } catch (thrown) {
      const failure = asChatError(thrown);
      logger.debug({ err: failure, session_id }, 'a chat could not be notified why its message waits');
      this.#pausedUntil.set(chatId, clock.monotonic() + (failure.pauseMs ?? 0));
      return failure.kind === 'refused' || (failure.kind === 'unknown' && messageId === null);
    }
  }

  /** Nothing is shown if there is no message. @throws ChatError if Telegram refuses it; ioredis' error */
  async put(sessionId: string, words: Text): Promise<void> {
    const session = await this.#base.store.records.session(sessionId);
    const messageId = session === null ? null : await this.#known.messageOf(session);
    if (session === null || messageId === null || (await this.#base.numbers.areForeign(session))) return;
    const message = { sessionId, chatId: session.request.chat_id, messageId };
    await this.#edits.edit(message, words, () => this.#edits.isIdle(sessionId));
  }

  /** The message is the run's from now on, once no send of it is in progress. @returns null if there is none */
  async handOver(session: AgentSession, abandoned: AbortSignal): Promise<string | null> {
    const messageId = session.request.progress_message_id ?? (await this.#sentFor(session.session_id, abandoned));
    if (messageId !== null) await this.#known.takeOver(session, messageId);
    return messageId;
  }

  async #sentFor(sessionId: string, abandoned: AbortSignal): Promise<string | null> {
    const sending = this.#sent.get(sessionId);
    if (sending === undefined) return null;
    const abandon = () => sending.abandoned.abort();
    if (abandoned.aborted) abandon();
    abandoned.addEventListener('abort', abandon, { once: true });
    const messageId = await sending.messageId;
    abandoned.removeEventListener('abort', abandon);
    return messageId;
  }

  /** @throws ChatError if Telegram refuses it, or its outcome is unknown */
  async #send(session: AgentSession, words: Text, word: FirstWord): Promise<void> {
    if (!(await word.isOurs())) return;
    const { session_id } = session;
    const abandoned = new AbortController();
    const sending = this.#sendNow(session, words, abandoned.signal);
    this.#sent.set(session_id, { messageId: sending.catch(() => null), abandoned });
    try {
      await sending;
    } catch (error) {
      const isUnsent = error instanceof ChatError && ['limited', 'not_reached', 'unauthorized'].includes(error.kind);
      if (isUnsent) this.#sent.delete(session_id);
      if (isUnsent) await word.giveBack();
      throw error;
    }
  }

  async #sendNow(session: AgentSession, words: Text, signal: AbortSignal): Promise<string | null> {
    const { store, api } = this.#base;
    const { chat_id: chatId, thread_id: threadId, message_id: replyTo } = session.request;
    if (!(await this.#waits(session.session_id))) return null;
    const messageId = await api.sendMessage({ chatId, threadId, replyTo }, words, { silent: true, signal });
    // If its run has begun in this moment, that one records it.
    await store.transitions.recordWaitingMessage(session.session_id, messageId);
    return messageId;
  }

  async #waits(sessionId: string): Promise<boolean> {
    return (await this.#base.store.records.session(sessionId))?.status === 'pending';
  }
}
