import { ConflictError } from '../../src/errors.js';
import type { DeliveryState } from '../../src/model.js';
import type { Chat } from '../../src/ports.js';
import type { Records } from '../../src/store/records.js';

/** The chat id of sessions that began at a terminal or on the command line. */
export const TERMINAL_CHAT = 'terminal';

/** Sends each session's words to the chat that it came from. Without a bot token every chat is the terminal. */
export class ChatRouter implements Chat {
  readonly #records: Records;
  readonly #telegram: Chat | null;
  readonly #terminal: Chat;

  constructor(records: Records, telegram: Chat | null, terminal: Chat) {
    this.#records = records;
    this.#telegram = telegram;
    this.#terminal = terminal;
  }

  /** @throws ConflictError where nothing is stored of it now: it may be stored again a moment later, for either chat */
  async deliver(sessionId: string): Promise<DeliveryState> {
    const chat = await this.#chatOf(sessionId);
    if (chat === null)
      throw new ConflictError(`session ${sessionId} has no final message; there is nothing to deliver`);
    return chat.deliver(sessionId);
  }

  async showProgress(sessionId: string, text: string): Promise<void> {
    await (await this.#chatOf(sessionId))?.showProgress(sessionId, text);
  }

  async #chatOf(sessionId: string): Promise<Chat | null> {
    if (this.#telegram === null) return this.#terminal;
    const chatId =
      (await this.#records.session(sessionId))?.chat_id ?? (await this.#records.outboxEntry(sessionId))?.chat_id;
    if (chatId === undefined) return null;
    return chatId === TERMINAL_CHAT ? this.#terminal : this.#telegram;
  }
}
