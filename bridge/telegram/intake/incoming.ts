/** Reads the meaning of a Telegram update. Pure. */
import type { Update } from 'grammy/types';
import { GENERAL_TOPIC } from '../../../src/config/settings.js';
import { UsageError } from '../../../src/errors.js';
import { SECOND } from '../../../src/time.js';
import type { ChatMessage } from '../../intake/admission.js';
import { parseCommand } from '../../intake/commands/commandText.js';
import { addressesIn, mentionsIn, type Said, withEntities } from './entities.js';
import { type AnsweredMessage, checked, contentOf, type Message, nameOf } from './messageFields.js';
import { otherWords } from './otherWords.js';

/** The bot as the API introduced it. */
export interface Bot {
  readonly id: number;
  readonly username: string;
  /** False: Telegram's privacy mode keeps messages of groups from it, also those that mention it. Missing if unknown. */
  readonly readsGroups?: boolean;
}

/** How words of others come from a sender: forwarded, or written by a bot that the sender used. */
export type Relay = 'forwarded' | 'via_bot';

interface Addressed {
  /** It mentions the bot or answers a message of it, or the chat is private. */
  readonly isAddressed: boolean;
}

export interface IncomingText extends Addressed {
  readonly kind: 'text' | 'edited';
  /** Its text is the one that an agent gets: with links and code as Markdown, below it the words of others that came with it. */
  readonly message: ChatMessage;
  readonly said: Said;
  /** The words of others that came with it. */
  readonly notes: readonly string[];
  /** Null if the sender has typed it. */
  readonly relay: Relay | null;
  /** The text as the sender typed it, without the bot's name: commands are read from it. */
  readonly typed: string;
  /** The bot's or the sender's own message that this one answers, for an agent that does not know it; null if there is none. */
  readonly ownEarlier: string | null;
  /** The text's length as Telegram counts it, in UTF-16 units. */
  readonly length: number;
}

export type Incoming =
  | IncomingText
  /** A message that is not text; `what` as a person calls it. */
  | ({
      readonly kind: 'not_text';
      readonly message: ChatMessage;
      readonly what: string;
      readonly album: string | null;
    } & Addressed)
  | { readonly kind: 'migrated'; readonly chatId: string; readonly toChatId: string }
  /** Joins, pins, new topics, and the like. */
  | { readonly kind: 'nothing' };

/** @throws UsageError if the update does not match the Bot API's description */
export function readUpdate(update: Update, bot: Bot): Incoming {
  if (update.edited_message !== undefined) return readEdit(checked(update.edited_message), bot);
  return update.message === undefined ? { kind: 'nothing' } : readMessage(checked(update.message), bot);
}

function readEdit(message: Message, bot: Bot): Incoming {
  const read = readMessage(message, bot);
  if (read.kind === 'text') return { ...read, kind: 'edited' };
  // A person may mention the bot only now. A place that is shared live is edited all the time, and says nothing.
  return read.kind === 'not_text' && read.message.text !== '' ? read : { kind: 'nothing' };
}

function readMessage(message: Message, bot: Bot): Incoming {
  if (message.migrate_to_chat_id !== undefined) {
    return { kind: 'migrated', chatId: String(message.chat.id), toChatId: String(message.migrate_to_chat_id) };
  }
  const what = contentOf(message);
  const isEmpty = message.text === undefined && what === null;
  if (isEmpty || message.is_automatic_forward === true || message.from?.id === bot.id) return { kind: 'nothing' };
  if (message.text !== undefined) return readText(message, message.text, bot);
  const { caption = '', caption_entities = [], media_group_id: album = null } = message;
  const isMentioned = relayOf(message) === null && mentionsIn(caption, caption_entities, bot).length > 0;
  const isAddressed = isMentioned || isForBot(message, bot);
  return { kind: 'not_text', message: chatMessage(message, caption), what: what ?? 'that', album, isAddressed };
}

function readText(message: Message, text: string, bot: Bot): IncomingText {
  const { entities = [] } = message;
  const relay = relayOf(message);
  const mentions = mentionsIn(text, entities, bot);
  const cuts = addressesIn(text, mentions);
  const typed = withEntities(text, [], cuts);
  const ask = askedIn(text, typed, bot);
  const { notes, ownEarlier } = otherWords(message, answeredBy(message), bot.id);
  const said = { text, entities, cuts: ask === null ? cuts : [...cuts, ask] };
  return {
    kind: 'text',
    message: chatMessage(message, requestOf(said, notes)),
    said,
    notes,
    relay,
    typed,
    ownEarlier,
    // A mention in forwarded words does not address the bot.
    isAddressed: (relay === null && mentions.length > 0) || isForBot(message, bot),
    length: text.length,
  };
}

/** @returns the text that an agent gets: the words of the person who asks come before those of others */
export function requestOf({ text, entities, cuts }: Said, notes: readonly string[]): string {
  return [withEntities(text, entities, cuts), ...notes].filter((part) => part !== '').join('\n\n');
}

/** @returns where `/ask` stands, so that the agent gets only what follows; null if the message does not begin with it */
function askedIn(text: string, typed: string, bot: Bot) {
  const command = parseCommand(typed, bot.username);
  if (command === null || command === 'for_another' || command.name !== 'ask') return null;
  const from = text.indexOf('/');
  return { from, to: from + (/^\/\S*\s*/.exec(text.slice(from))?.[0].length ?? 0) };
}

function isForBot(message: Message, bot: Bot): boolean {
  return message.chat.id > 0 || answeredBy(message)?.from?.id === bot.id;
}

function relayOf({ forward_origin, via_bot }: Message): Relay | null {
  if (forward_origin !== undefined) return 'forwarded';
  return via_bot === undefined ? null : 'via_bot';
}

/** Replies in ordinary groups have a thread id as well; only a topic is a place of its own. */
function topicOf(message: Message): number | null {
  return message.is_topic_message === true ? (message.message_thread_id ?? null) : null;
}

/** @returns null if it answers none; every message of a topic seems to answer the topic's first one */
function answeredBy(message: Message): AnsweredMessage | null {
  const answered = message.reply_to_message ?? null;
  return answered === null || answered.message_id === topicOf(message) ? null : answered;
}

function chatMessage(message: Message, text: string): ChatMessage {
  // The sender of a message in the name of a chat, as by anonymous admins, is that chat.
  const sender = message.sender_chat ?? message.from;
  if (sender === undefined) throw new UsageError('the update holds a message without a sender');
  const topic = topicOf(message);
  const threadId = String(topic) === GENERAL_TOPIC ? null : topic;
  const answered = answeredBy(message);
  return {
    chatId: String(message.chat.id),
    threadId: threadId === null ? null : String(threadId),
    messageId: String(message.message_id),
    sender: { id: String(sender.id), name: nameOf(sender) },
    text,
    replyTo: answered === null ? null : String(answered.message_id),
    ...(message.date !== undefined && { writtenAt: message.date * SECOND }),
  };
}
