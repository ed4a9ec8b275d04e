/** The Bot API as used here: each call with a time limit and one kind of error. Only a caller knows whether it may repeat. */
import { Api, InputFile } from 'grammy';
import type {
  BotCommand,
  ChatFullInfo,
  ChatMember,
  ReactionTypeEmoji,
  Update,
  UserFromGetMe,
  WebhookInfo,
} from 'grammy/types';
import type { AgentSession } from '../../src/jobs/model.js';
import { type Clock, SECOND } from '../../src/time.js';
import { withoutEnd } from '../../src/withoutEnd.js';
import type { ChatFoundation } from '../chat/foundation.js';
import { noAnswer, refusal } from './chatError.js';
import { ChatSpending } from './chatSpending.js';
import type { AnswerFile } from './markdown/answerParts.js';

/** After this long the outcome of a message or an edit counts as unknown. */
const SEND_MS = 30 * SECOND;
/** For calls that may be lost: typing, reactions, the list of commands. */
const SMALL_MS = 10 * SECOND;
/** Beyond the requested time of a long poll. */
const POLL_GRACE_MS = 15 * SECOND;
/** The methods that count towards the limit of a group. */
const SPENDS = ['sendMessage', 'sendDocument', 'editMessageText'];
const NO_PREVIEW = { link_preview_options: { is_disabled: true } } as const;

export interface Destination {
  /** Decimal, or `@name`. */
  readonly chatId: string;
  readonly threadId: string | null;
  /** Left out if it is not a number, or the message is gone. */
  readonly replyTo: string | null;
}

interface MessageOptions {
  readonly silent?: boolean;
  readonly signal?: AbortSignal;
}

/** grammY's type is that of an older polyfill; at run time it takes Node's own signal. */
type GrammySignal = NonNullable<Parameters<Api['getMe']>[0]>;

/** If `html` is null, the text is shown literally, and Telegram makes links and mentions of words that look like them. */
export interface Text {
  readonly plain: string;
  readonly html: string | null;
}

/** The base that all parts of the chat in Telegram share. */
export interface TelegramFoundation extends ChatFoundation {
  readonly api: TelegramApi;
  /** Missing where sessions have no folders. */
  readonly logsFolder?: string;
  /** One for all parts of a process. */
  readonly numbers: MessageNumbers;
}

/** The owner of the numbers in messages' ids. Both methods throw ioredis' error if Redis is unreachable. */
export interface MessageNumbers {
  /** @returns the bot that messages of the chat, received or sent now, are marked with; null if with none */
  markIn(chatId: string): Promise<string | null>;
  /** @returns whether the ids of the session's messages are another bot's: for this one they name other messages, or none */
  areForeign(session: AgentSession): Promise<boolean>;
}

/** Every method throws a ChatError, and nothing else. */
export class TelegramApi {
  /** The number before the token's colon: the bot's own user id. */
  readonly botId: string;
  /** Noted here, and asked by those who can wait. */
  readonly spending: ChatSpending;
  readonly #api: Api;

  constructor({ token, apiRoot }: { token: string; apiRoot: string }, clock: Clock) {
    this.botId = token.split(':')[0] ?? '';
    this.spending = new ChatSpending(clock);
    this.#api = new Api(token, { apiRoot: withoutEnd(apiRoot, /\//) });
    this.#api.config.use(async (call, method, payload, given) => {
      if (SPENDS.includes(method)) this.spending.note(chatOf(payload));
      const limit = new AbortController();
      const timer = clock.after(limitMs(method, payload), () => limit.abort());
      const signals = [limit.signal, given as AbortSignal | undefined].filter((each) => each !== undefined);
      const answer = await call(method, payload, forGrammy(AbortSignal.any(signals)))
        .catch((thrown: unknown) => {
          throw noAnswer(method, thrown, token);
        })
        .finally(() => timer.cancel());
      if (answer.ok) return answer;
      const failure = refusal(method, answer, token);
      if (failure.kind === 'limited') this.spending.ban(chatOf(payload), method, failure.pauseMs ?? 0);
      throw failure;
    });
  }

  getMe(signal?: AbortSignal): Promise<UserFromGetMe> {
    return this.#api.getMe(forGrammy(signal));
  }

  /** @param offset the first update wanted; null for the oldest that is not confirmed @param timeout in seconds */
  getUpdates(offset: number | null, timeout: number, signal: AbortSignal): Promise<Update[]> {
    const wanted = { timeout, allowed_updates: ['message', 'edited_message'] as const };
    return this.#api.getUpdates({ ...wanted, ...(offset !== null && { offset }) }, forGrammy(signal));
  }

  /** Confirms none, and interrupts any process that fetches messages now. @param timeout how long the server waits, in seconds */
  peekAtUpdates(timeout: number): Promise<Update[]> {
    return this.#api.getUpdates({ timeout, limit: 1 });
  }

  getWebhookInfo(signal?: AbortSignal): Promise<WebhookInfo> {
    return this.#api.getWebhookInfo(forGrammy(signal));
  }

  getChat(chatId: string, signal?: AbortSignal): Promise<ChatFullInfo> {
    return this.#api.getChat(chatId, forGrammy(signal));
  }

  getOwnMembership(chatId: string): Promise<ChatMember> {
    return this.#api.getChatMember(chatId, Number(this.botId));
  }

  /** @returns the message's id */
  async sendMessage(to: Destination, text: Text, { silent, signal }: MessageOptions = {}): Promise<string> {
    const options = { ...NO_PREVIEW, ...parsing(text), ...placing(to, silent) };
    const sent = await this.#api.sendMessage(to.chatId, text.html ?? text.plain, options, forGrammy(signal));
    return String(sent.message_id);
  }

  /** @returns the message's id */
  async sendDocument(to: Destination, file: AnswerFile, { silent, signal }: MessageOptions = {}): Promise<string> {
    const upload = new InputFile(Buffer.from(file.content), file.fileName);
    const sent = await this.#api.sendDocument(to.chatId, upload, placing(to, silent), forGrammy(signal));
    return String(sent.message_id);
  }

  async editMessageText(chatId: string, messageId: string, text: Text, signal?: AbortSignal): Promise<void> {
    const options = { ...NO_PREVIEW, ...parsing(text) };
    await this.#api.editMessageText(chatId, Number(messageId), text.html ?? text.plain, options, forGrammy(signal));
  }

  async showTyping(chatId: string, threadId: string | null, signal?: AbortSignal): Promise<void> {
    const topic = threadId === null ? {} : { message_thread_id: Number(threadId) };
    await this.#api.sendChatAction(chatId, 'typing', topic, forGrammy(signal));
  }

  async react(chatId: string, messageId: string, emoji: ReactionTypeEmoji['emoji'], signal?: AbortSignal) {
    await this.#api.setMessageReaction(chatId, Number(messageId), [{ type: 'emoji', emoji }], {}, forGrammy(signal));
  }

  async setMyCommands(commands: readonly BotCommand[], signal?: AbortSignal): Promise<void> {
    await this.#api.setMyCommands(commands, {}, forGrammy(signal));
  }
}

function forGrammy(signal: AbortSignal | undefined): GrammySignal | undefined {
  return signal as unknown as GrammySignal | undefined;
}

function chatOf(payload: object): string {
  return String((payload as { chat_id?: unknown }).chat_id);
}

function limitMs(method: string, payload: object): number {
  if (SPENDS.includes(method)) return SEND_MS;
  if (method !== 'getUpdates') return SMALL_MS;
  const { timeout = 0, limit } = payload as { timeout?: number; limit?: number };
  return timeout * SECOND + (limit === undefined ? POLL_GRACE_MS : SMALL_MS);
}

function parsing({ html }: Text): { readonly parse_mode?: 'HTML' } {
  return html === null ? {} : { parse_mode: 'HTML' };
}

function placing({ threadId, replyTo }: Destination, silent: boolean | undefined) {
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
