/**
 * A Telegram Bot API server of our own, for tests and the demo: real HTTP on a loopback port, strict as the real one, with
 * the people in the chats and the faults on the way under the test's control.
 *
 * It knows nothing of the product. Left out: what webhooks would be sent, rights, rate limits of its own, albums, inline
 * mode. A chat exists once a person has spoken there, or {@link TelegramPeer.openChat} was called; before, the bot gets
 * "chat not found".
 */

import { type Clock, systemClock } from '../../../src/time.js';
import { FaultPlan, type InjectedFault } from '../faultPlan.js';
import { listenOnLoopback } from '../loopback.js';
import { Watchers } from '../watchers.js';
import { applies, type Fault, type FaultyCall } from './faults.js';
import { type Attachment, People, type SayOptions, type Speaker } from './person.js';
import { readState, type SeenMessage, seenMessages, type TelegramState } from './reader.js';
import { botApi, type Call } from './server.js';
import type { TranscriptEntry } from './transcript.js';
import { World } from './world.js';

export interface TelegramPeerOptions {
  /** The bot's token; anything else is answered with 401. */
  readonly token?: string;
  /** Where everything a person could have seen is written, one JSON object per line. */
  readonly logFile?: string;
  /** Dates the messages. Long polls wait in real time all the same. */
  readonly clock?: Pick<Clock, 'now'>;
}

export interface TelegramPeer {
  /** For grammY's `apiRoot`. */
  readonly url: string;
  readonly token: string;
  readonly botId: number;
  /** Breaks every connection, rejects whoever still waits; resolves when the port is free. */
  stop(): Promise<void>;

  /** Its owner switches the bot's group privacy mode at @BotFather; off at first. Of groups it then gets commands and replies. */
  setPrivacyMode(isOn: boolean): void;
  /** Somebody sets a webhook for the bot: nothing can be fetched then. Null removes it. */
  setWebhook(url: string | null): void;

  /** Lets the bot know a chat in which nobody has spoken. A negative id is a supergroup. */
  openChat(chatId: number, options?: { readonly title?: string; readonly forum?: boolean }): void;
  /** @returns the message's id */
  say(chatId: number, text: string, options?: SayOptions): number;
  /** Sends what is not text. @returns the message's id */
  send(chatId: number, attachment: Attachment, options?: SayOptions): number;
  /** A person rewords a message. */
  edit(chatId: number, messageId: number, text: string): void;
  /** @param emoji null takes the reaction away */
  react(chatId: number, messageId: number, emoji: string | null, speaker?: Speaker): void;
  /** Taps the button that sends `data`. @returns the callback's id */
  tap(chatId: number, messageId: number, data: string, speaker?: Speaker): string;
  /** @returns what the bot answered to a tap; null while it has not */
  tapAnswer(callbackId: string): { readonly text: string; readonly alert: boolean } | null;
  /** Opens a chat nobody knew as a forum. @returns the thread's id */
  createTopic(chatId: number, name: string, speaker?: Speaker): number;
  closeTopic(chatId: number, threadId: number, speaker?: Speaker): void;
  reopenTopic(chatId: number, threadId: number, speaker?: Speaker): void;

  /** What stands in the chat now, oldest first. */
  messages(chatId: number): SeenMessage[];
  /** The same, of the bot only. */
  botMessages(chatId: number): SeenMessage[];
  /** Everything a person could have seen, in order, also what is gone by now. */
  readonly transcript: readonly TranscriptEntry[];
  /** Every request to a method, in order. */
  readonly calls: readonly Call[];
  /** Whether the bot waits in a long poll now. */
  readonly polling: boolean;
  /** Updates that the bot has not confirmed by a higher offset. */
  readonly unconfirmedUpdates: number;
  /** The next updates have numbers from `updateId` on, as after a week without any. */
  countAnewFrom(updateId: number): void;

  /** Orders a fault for the next matching calls. */
  inject(fault: Fault): InjectedFault;
  /**
   * Resolves with the predicate's first truthy value, on the event that makes it true.
   * @param timeoutMs real milliseconds, 5,000 by default
   * @throws Error after the timeout, with the transcript's end
   */
  waitFor<T>(predicate: () => T | false | null | undefined, timeoutMs?: number): Promise<T>;
  /** All of it, ready for JSON. */
  state(): TelegramState;
}

const DEFAULT_TOKEN = '7000000001:peer-token-that-opens-nothing-else';
const DEFAULT_WAIT_MS = 5_000;
const SHOWN_ON_TIMEOUT = 15;

/** Starts a server on a free loopback port. Nothing is shared between two of them. */
export async function startTelegramPeer(options: TelegramPeerOptions = {}): Promise<TelegramPeer> {
  const token = options.token ?? DEFAULT_TOKEN;
  const world = new World(options.clock ?? systemClock, options.logFile);
  const watchers = new Watchers();
  const faults = new FaultPlan<Fault, FaultyCall>();
  const calls: Call[] = [];
  const changed = () => watchers.check();
  const people = new People(world, changed);
  const server = await listenOnLoopback(botApi({ world, token, faults, calls, changed }));
  return {
    url: server.url,
    token,
    botId: world.bot.id,
    async stop() {
      watchers.stop();
      world.updates.stop();
      await server.stop();
    },
    setPrivacyMode: (isOn) => {
      world.privacyMode = isOn;
    },
    setWebhook: (url) => {
      world.webhook = url;
    },
    openChat: (chatId, chat) => void world.openChat(chatId, chat),
    say: (chatId, text, said = {}) => people.say(chatId, text, said),
    send: (chatId, attachment, said = {}) => people.send(chatId, attachment, said),
    edit: (chatId, messageId, text) => people.edit(chatId, messageId, text),
    react: (chatId, messageId, emoji, speaker = {}) => people.react(chatId, messageId, emoji, speaker),
    tap: (chatId, messageId, data, speaker = {}) => people.tap(chatId, messageId, data, speaker),
    tapAnswer: (callbackId) => world.callbacks.get(callbackId)?.answer ?? null,
    createTopic: (chatId, name, speaker = {}) => people.createTopic(chatId, name, speaker),
    closeTopic: (chatId, threadId, speaker = {}) => people.setTopicClosed(chatId, threadId, true, speaker),
    reopenTopic: (chatId, threadId, speaker = {}) => people.setTopicClosed(chatId, threadId, false, speaker),
    messages: (chatId) => seenMessages(world, chatId),
    botMessages: (chatId) => seenMessages(world, chatId).filter((message) => message.byBot),
    transcript: world.transcript.entries,
    calls,
    get polling() {
      return world.updates.polling;
    },
    countAnewFrom: (updateId) => world.updates.countAnewFrom(updateId),
    get unconfirmedUpdates() {
      return world.updates.unconfirmed.length;
    },
    inject: (fault) => faults.add(fault, (call) => applies(fault, call), fault.times ?? 1),
    waitFor: (predicate, timeoutMs = DEFAULT_WAIT_MS) =>
      watchers.waitFor(predicate, timeoutMs, () => describe(world.transcript.entries)),
    state: () => readState(world, calls),
  };
}

function describe(transcript: readonly TranscriptEntry[]): string {
  const lines = transcript.slice(-SHOWN_ON_TIMEOUT).map((entry) => JSON.stringify(entry));
  return ['the last that a person saw:', ...lines].join('\n');
}
