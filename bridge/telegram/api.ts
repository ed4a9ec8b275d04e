/**
 * The Bot API, as far as this bridge uses it: each call with a time limit and one kind of error. Nothing is retried here: only
 * the caller knows whether a repetition is harmless.
 */
import { Api, InputFile } from 'grammy';
import type {
  BotCommand,
  ChatFullInfo,
  ChatMember,
  Message,
  ReactionTypeEmoji,
  Update,
  UserFromGetMe,
  WebhookInfo,
} from 'grammy/types';
import { type Clock, SECOND } from '../../src/time.js';
import type { AnswerFile } from './answerParts.js';
import { classify } from './chatError.js';
import type { MessagePart } from './render.js';

/** After this long a call's outcome counts as unknown, in milliseconds. */
export interface ApiTimeouts {
  /** Messages and their edits. */
  readonly sendMs: number;
  /** Calls that may be lost: typing, reactions, the list of commands. */
  readonly smallMs: number;
  /** Beyond the requested time of a long poll. */
  readonly pollGraceMs: number;
}

const DEFAULT_API_TIMEOUTS: ApiTimeouts = {
  sendMs: 30 * SECOND,
  smallMs: 10 * SECOND,
  pollGraceMs: 15 * SECOND,
};

export interface Destination {
  /** Decimal, or `@name`. */
  readonly chatId: string;
  readonly threadId: string | null;
  /** Left out if it is not a number, or the message is gone. */
  readonly replyTo: string | null;
}

export interface MessageOptions {
  readonly silent?: boolean;
  readonly signal?: AbortSignal;
}

/** grammY's type is that of an older polyfill; at run time it takes Node's own signal. */
type GrammySignal = NonNullable<Parameters<Api['getMe']>[0]>;

/** `html` null: shown literally, and Telegram turns what looks like links and mentions into them. */
export type Text = Pick<MessagePart, 'plain'> & { readonly html: string | null };

/** Every method throws a ChatError, and nothing else. */
export class TelegramApi {
  /** The number before the token's colon: the bot's own user id. */
  readonly botId: string;
  private readonly api: Api;
  private readonly token: string;
  private readonly clock: Clock;
  private readonly timeouts: ApiTimeouts;

  constructor(bot: { token: string; apiRoot: string }, clock: Clock, timeouts: ApiTimeouts = DEFAULT_API_TIMEOUTS) {
    this.api = new Api(bot.token, { apiRoot: bot.apiRoot.replace(/\/+$/, '') });
    this.token = bot.token;
    this.botId = bot.token.split(':')[0] ?? '';
    this.clock = clock;
    this.timeouts = timeouts;
  }

  getMe(signal?: AbortSignal): Promise<UserFromGetMe> {
    return this.call('getMe', this.timeouts.smallMs, signal, (limit) => this.api.getMe(limit));
  }

  /**
   * @param offset the first update wanted; null: the oldest that is not confirmed
   * @param timeoutS how long the server waits for one, in seconds
   */
  getUpdates(offset: number | null, timeoutS: number, signal: AbortSignal): Promise<Update[]> {
    const limitMs = timeoutS * SECOND + this.timeouts.pollGraceMs;
    return this.call('getUpdates', limitMs, signal, (limit) =>
      this.api.getUpdates(
        { timeout: timeoutS, allowed_updates: ['message', 'edited_message'], ...(offset !== null && { offset }) },
        limit,
      ),
    );
  }

  /**
   * Looks at what waits and confirms nothing: one update at most, and Telegram keeps its record of the wanted kinds. It
   * interrupts any process that is fetching messages at this moment.
   * @param timeoutS how long the server waits for one, in seconds
   */
  peekAtUpdates(timeoutS: number, signal?: AbortSignal): Promise<Update[]> {
    const limitMs = timeoutS * SECOND + this.timeouts.smallMs;
    return this.call('getUpdates', limitMs, signal, (limit) =>
      this.api.getUpdates({ timeout: timeoutS, limit: 1 }, limit),
    );
  }

  getWebhookInfo(signal?: AbortSignal): Promise<WebhookInfo> {
    return this.call('getWebhookInfo', this.timeouts.smallMs, signal, (limit) => this.api.getWebhookInfo(limit));
  }

  getChat(chatId: string, signal?: AbortSignal): Promise<ChatFullInfo> {
    return this.call('getChat', this.timeouts.smallMs, signal, (limit) => this.api.getChat(chatId, limit));
  }

  /** This bot's own role in a chat. */
  getOwnMembership(chatId: string, signal?: AbortSignal): Promise<ChatMember> {
    return this.call('getChatMember', this.timeouts.smallMs, signal, (limit) =>
      this.api.getChatMember(chatId, Number(this.botId), limit),
    );
  }

  /** @returns the message's id */
  async sendMessage(to: Destination, text: Text, options: MessageOptions = {}): Promise<string> {
    const sent: Message = await this.call('sendMessage', this.timeouts.sendMs, options.signal, (limit) =>
      this.api.sendMessage(
        to.chatId,
        text.html ?? text.plain,
        {
          link_preview_options: { is_disabled: true },
          ...(text.html !== null && { parse_mode: 'HTML' }),
          ...placing(to, options),
        },
        limit,
      ),
    );
    return String(sent.message_id);
  }

  /** @returns the message's id */
  async sendDocument(to: Destination, file: AnswerFile, options: MessageOptions = {}): Promise<string> {
    const upload = new InputFile(Buffer.from(file.content), file.fileName);
    const sent: Message = await this.call('sendDocument', this.timeouts.sendMs, options.signal, (limit) =>
      this.api.sendDocument(to.chatId, upload, placing(to, options), limit),
    );
    return String(sent.message_id);
  }

  async editMessageText(chatId: string, messageId: string, text: Text, signal?: AbortSignal): Promise<void> {
    await this.call('editMessageText', this.timeouts.sendMs, signal, (limit) =>
      this.api.editMessageText(
        chatId,
        Number(messageId),
        text.html ?? text.plain,
        { link_preview_options: { is_disabled: true }, ...(text.html !== null && { parse_mode: 'HTML' }) },
        limit,
      ),
    );
  }

  async showTyping(chatId: string, threadId: string | null, signal?: AbortSignal): Promise<void> {
    await this.call('sendChatAction', this.timeouts.smallMs, signal, (limit) =>
      this.api.sendChatAction(
        chatId,
        'typing',
        threadId === null ? {} : { message_thread_id: Number(threadId) },
        limit,
      ),
    );
  }

  async react(chatId: string, messageId: string, emoji: ReactionTypeEmoji['emoji'], signal?: AbortSignal) {
    await this.call('setMessageReaction', this.timeouts.smallMs, signal, (limit) =>
      this.api.setMessageReaction(chatId, Number(messageId), [{ type: 'emoji', emoji }], {}, limit),
    );
  }

  async setMyCommands(commands: readonly BotCommand[], signal?: AbortSignal): Promise<void> {
    await this.call('setMyCommands', this.timeouts.smallMs, signal, (limit) =>
      this.api.setMyCommands(commands, {}, limit),
    );
  }

  private async call<Result>(
    method: string,
    limitMs: number,
    outer: AbortSignal | undefined,
    request: (signal: GrammySignal) => Promise<Result>,
  ): Promise<Result> {
    const limit = new AbortController();
    const timer = this.clock.after(limitMs, () => limit.abort());
    try {
      const signal = outer === undefined ? limit.signal : AbortSignal.any([outer, limit.signal]);
      return await request(signal as unknown as GrammySignal);
    } catch (thrown) {
      throw classify(method, thrown, this.token);
    } finally {
      timer.cancel();
    }
  }
}

function placing({ threadId, replyTo }: Destination, { silent }: MessageOptions) {
  return {
    ...(threadId !== null && { message_thread_id: Number(threadId) }),
    ...(isMessageId(replyTo) && {
      reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true },
    }),
    ...(silent === true && { disable_notification: true }),
  };
}

function isMessageId(text: string | null): boolean {
  return text !== null && /^\d{1,15}$/.test(text);
}
