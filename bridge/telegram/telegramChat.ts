import type { AgentSession, DeliveryState } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import type { Service } from '../../src/service.js';
import type { SayingChat } from '../chat/chatRouter.js';
import type { TelegramApi } from './api.js';
import type { TelegramDelivery } from './delivery.js';
import type { ProgressDisplay } from './progress.js';

export interface TelegramChatParts {
  readonly delivery: TelegramDelivery;
  readonly progress: ProgressDisplay;
  readonly api: TelegramApi;
  readonly store: Store;
}

/** Telegram as the place where people read. As a service it only stops: nothing of it runs until it is called. */
export class TelegramChat implements SayingChat, Service {
  readonly name = 'telegram chat';
  readonly #delivery: TelegramDelivery;
  readonly #progress: ProgressDisplay;
  readonly #api: TelegramApi;
  readonly #store: Store;

  constructor({ delivery, progress, api, store }: TelegramChatParts) {
    this.#delivery = delivery;
    this.#progress = progress;
    this.#api = api;
    this.#store = store;
  }

  async start(): Promise<void> {}

  /** The bridge stops: messages that are being sent, or still come, have as much time as runs have. */
  hurry(): void {
    this.#delivery.hurry();
  }

  /** After the runs and before the delivery service: the current part is still sent, the rest stays due. */
  async stop(): Promise<void> {
    await Promise.all([this.#delivery.stop(), this.#progress.stop()]);
  }

  deliver(sessionId: string): Promise<DeliveryState> {
    return this.#delivery.deliver(sessionId);
  }

  showProgress(sessionId: string, text: string): Promise<void> {
    return this.#progress.showProgress(sessionId, text);
  }

  async say(session: AgentSession, text: string): Promise<void> {
    const { chat_id: chatId, thread_id: threadId, message_id: replyTo } = session.request;
    const to = { chatId, threadId, replyTo };
    const messageId = await this.#api.sendMessage(to, { plain: text, html: null }, { silent: true });
    await this.#store.chatMemory.recordOwnMessage(session, messageId);
  }
}
