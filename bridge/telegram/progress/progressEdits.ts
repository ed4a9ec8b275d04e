/**
 * The one place from which progress messages are edited. Edits of one message follow each other, and each first checks the
 * record: the message of an ended session is not changed any more.
 *
 * A process may be stopped between the check and the edit, and then overwrite the last line with a working one. It notices when
 * it resumes, and has the last line written again.
 */
import { type AgentSession, isDelivered } from '../../../src/jobs/model.js';
import { SECOND } from '../../../src/time.js';
import type { TelegramFoundation, Text } from '../api.js';
import { ChatError } from '../chatError.js';

interface ProgressMessage {
  readonly sessionId: string;
  readonly chatId: string;
  readonly messageId: string;
}

export interface QuietProgress {
  /** How far the wall clock was moved while the run was shown, in milliseconds; 0 if that cannot be seen. */
  readonly clockMovedMs: number;
  /** The progress message as this process knows it; the store may have forgotten it. Null if it knows none. */
  readonly messageId: string | null;
  /** An edit was abandoned that may still arrive. */
  readonly mayComeLate: boolean;
}

/** `unknown`: the store has no such run at this moment. It may have lost it, and receive it again. */
export type RunState = 'working' | 'over' | 'unknown';

/** An edit that took longer may have come after the end. */
const LATE_AFTER_MS = SECOND;

export class ProgressEdits {
  readonly #base: TelegramFoundation;
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(base: TelegramFoundation) {
    this.#base = base;
  }

  /** If `mayEdit` agrees when its turn comes. @returns whether it did @throws ChatError; ioredis' error */
  async edit(
    message: ProgressMessage,
    text: Text,
    mayEdit: () => Promise<boolean>,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const { clock } = this.#base;
    return this.#inTurn(message, async () => {
      const askedAt = clock.monotonic();
      if (!(await mayEdit())) return false;
      try {
        await this.#put(message, text, signal);
      } finally {
        if (clock.monotonic() - askedAt > LATE_AFTER_MS) await this.#closeAgainIfOver(message);
      }
      return true;
    });
  }

  /** The session has ended, even if the message shows work. @throws ChatError if Telegram refused it or is not reached */
  async close(message: ProgressMessage, line: string, signal: AbortSignal): Promise<void> {
    await this.#inTurn(message, () => this.#put(message, { plain: line, html: null }, signal));
  }

  /** Telegram lengthens its ban for a bot that does not wait, whichever of its processes and messages it is. */
  async #put({ chatId, messageId }: ProgressMessage, text: Text, signal?: AbortSignal): Promise<void> {
    const { api, store, logger } = this.#base;
    const retryAfterMs = await store.chatMemory.editBanMs(chatId);
    if (retryAfterMs > 0) {
      const description = 'an earlier edit was asked to wait';
      throw new ChatError('editMessageText', { kind: 'limited', description, retryAfterMs });
    }
    try {
      await api.editMessageText(chatId, messageId, text, signal);
    } catch (error) {
      const bannedMs = error instanceof ChatError && error.kind === 'limited' ? (error.pauseMs ?? 0) : 0;
      await store.chatMemory
        .banEdits(chatId, bannedMs)
        .catch((err: unknown) => logger.debug({ err }, 'other processes do not hear that a chat wants no edits'));
      throw error;
    }
  }

  async stateOf(session: AgentSession): Promise<RunState> {
    const found = await this.#base.store.records.session(session.session_id);
    if (found === null || found.status === 'pending') return 'unknown';
    const isItsRun = found.run?.run_id === session.run?.run_id;
    return found.status === 'active' && found.released === null && isItsRun ? 'working' : 'over';
  }

  /** @returns whether the session is open and no run of it shows its own progress, in whichever process */
  async isIdle(sessionId: string): Promise<boolean> {
    const session = await this.#base.store.records.session(sessionId);
    const isAtWork = session?.status === 'active' && session.released === null;
    return !isAtWork && (await this.isOpen(sessionId));
  }

  /** @returns whether the session has neither ended nor a final message */
  async isOpen(sessionId: string): Promise<boolean> {
    const { records } = this.#base.store;
    const session = await records.session(sessionId);
    if (session?.status !== 'pending' && session?.status !== 'active') return false;
    return (await records.outboxEntry(sessionId)) === null;
  }

  async #inTurn<Result>({ chatId, messageId }: ProgressMessage, work: () => Promise<Result>): Promise<Result> {
    const key = `${chatId} ${messageId}`;
    const before = this.#last.get(key) ?? Promise.resolve();
    const done = before.then(work, work);
    const settled = done.catch(() => undefined);
    this.#last.set(key, settled);
    try {
      return await done;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }

  /** Never throws: the edit has been made, and the caller must learn that. */
  async #closeAgainIfOver({ sessionId, messageId }: ProgressMessage): Promise<void> {
    const { store, clock, logger } = this.#base;
    try {
      const session = await store.records.session(sessionId);
      const entry = await store.records.outboxEntry(session?.revived_by ?? sessionId);
      if (entry === null || !isDelivered(entry.state) || entry.closed_message_id !== messageId) return;
      logger.info({ session_id: sessionId }, 'a progress line came late; the last line is written again');
      await store.outbox.save(entry, { progress_message_id: messageId, due_at: clock.now(), waits_ms: 0 });
    } catch (err) {
      logger.warn({ err, session_id: sessionId }, 'it is unknown whether a progress line arrived late');
    }
  }
}
