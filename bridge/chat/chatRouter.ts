import { ConflictError, describeError } from '../../src/errors.js';
import type { AgentSession, DeliveryState } from '../../src/jobs/model.js';
import type { Chat } from '../../src/jobs/ports.js';
import type { Records } from '../../src/jobs/records.js';
import { makeJournalDurable } from '../../src/journal/durable.js';
import type { Logger } from '../../src/log/logger.js';
import { atMost, type Clock, SECOND } from '../../src/time.js';

/** The chat id of sessions that began at a terminal or on the command line. */
export const TERMINAL_CHAT = 'terminal';

/** Measured on ext4, it takes half a millisecond. */
const SYNC_WITHIN_MS = 5 * SECOND;

/** A chat that takes sentences beside progress and final message. */
export interface SayingChat extends Chat {
  /** One sentence as a reply; it may be lost. */
  say(session: AgentSession, text: string): Promise<void>;
}

export interface ChatRouterParts {
  readonly records: Records;
  readonly telegram: SayingChat | null;
  readonly terminal: Chat;
  /** Where the journals of this host's runs are. */
  readonly logsFolder: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Sends each session's messages to the chat that it came from. Without a bot token every chat is the terminal. */
export class ChatRouter implements SayingChat {
  readonly #parts: ChatRouterParts;
  readonly #records: Records;
  readonly #telegram: SayingChat | null;
  readonly #terminal: Chat;

  constructor(parts: ChatRouterParts) {
    this.#parts = parts;
    this.#records = parts.records;
    this.#telegram = parts.telegram;
    this.#terminal = parts.terminal;
  }

  /**
   * The journal is on the disk before a person reads the answer: if Redis loses its last second with its host, the answer must
   * still be known. A disk that is too slow for that holds no answer back.
   * @throws ConflictError if nothing is stored for it now: it may be stored again a moment later, for either chat
   */
  async deliver(sessionId: string): Promise<DeliveryState> {
    const chat = await this.#chatOf(sessionId);
    if (chat === null)
      throw new ConflictError(`session ${sessionId} has no final message; there is nothing to deliver`);
    await this.#makeDurable(sessionId);
    return chat.deliver(sessionId);
  }

  async #makeDurable(sessionId: string): Promise<void> {
    const { logsFolder, clock, logger } = this.#parts;
    try {
      await atMost(clock, SYNC_WITHIN_MS, makeJournalDurable(logsFolder, sessionId), undefined);
    } catch (err) {
      const said = `session ${sessionId}: its journal could not be made durable (${describeError(err)}); its end is sent all the same`;
      logger.error({ err, session_id: sessionId }, said);
    }
  }

  async showProgress(sessionId: string, text: string): Promise<void> {
    await (await this.#chatOf(sessionId))?.showProgress(sessionId, text);
  }

  async say(session: AgentSession, text: string): Promise<void> {
    if (this.#telegram !== null && session.request.chat_id !== TERMINAL_CHAT) await this.#telegram.say(session, text);
    else await this.#terminal.showProgress(session.session_id, text);
  }

  async #chatOf(sessionId: string): Promise<Chat | null> {
    if (this.#telegram === null) return this.#terminal;
    const chatId =
      (await this.#records.session(sessionId))?.request.chat_id ??
      (await this.#records.outboxEntry(sessionId))?.chat_id;
    if (chatId === undefined) return null;
    return chatId === TERMINAL_CHAT ? this.#terminal : this.#telegram;
  }
}
