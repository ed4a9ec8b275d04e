/**
 * The owner of the numbers in messages' ids. In private chats and basic groups Telegram numbers messages for each bot by itself,
 * so a bot that replaces another one, as after a leaked token, begins with small numbers again. The ids of the first bot carry
 * no mark; those of a later one are marked with the bot's id, in the session's id and in every key. In a supergroup the numbers
 * are the chat's.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { botOfSession } from '../../src/ids.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { MessageNumbers, TelegramFoundation } from './api.js';

/** https://core.telegram.org/api/bots/ids */
const CHAT_WITH_OWN_NUMBERS = /^-100\d{10,}$/;

type Base = Omit<TelegramFoundation, 'numbers'>;

export class BotNumbers implements MessageNumbers {
  readonly #base: Base;
  #first: Promise<string> | null = null;

  constructor(base: Base) {
    this.#base = base;
  }

  async markIn(chatId: string): Promise<string | null> {
    if (CHAT_WITH_OWN_NUMBERS.test(chatId)) return null;
    const { botId } = this.#base.api;
    return (await this.#firstBot()) === botId ? null : botId;
  }

  async areForeign({ session_id, request: { chat_id } }: AgentSession): Promise<boolean> {
    if (CHAT_WITH_OWN_NUMBERS.test(chat_id) || !session_id.startsWith('tg_')) return false;
    return (botOfSession(session_id) ?? (await this.#firstBot())) !== this.#base.api.botId;
  }

  async #firstBot(): Promise<string> {
    this.#first ??= this.#readFirst();
    try {
      return await this.#first;
    } catch (error) {
      this.#first = null;
      throw error;
    }
  }

  async #readFirst(): Promise<string> {
    const { store, api, logger } = this.#base;
    const isLater = await this.#hasMarkedSessions();
    const first = await store.chatMemory.firstBot(api.botId, isLater);
    if (first !== api.botId) {
      logger.info(
        { bot_id: api.botId, first_bot: first },
        `this bot has replaced ${first}: its sessions have its id in theirs`,
      );
    }
    return first;
  }

  /** A Redis that has lost everything does not know the first bot; the folders of sessions show who came later. */
  async #hasMarkedSessions(): Promise<boolean> {
    const { logsFolder, api } = this.#base;
    if (logsFolder === undefined) return false;
    const names = await readdir(join(logsFolder, 'sessions')).catch(() => []);
    return names.some((name) => botOfSession(name) === api.botId);
  }
}
