/**
 * What a Telegram update means to us. Pure. Permissions are decided by what is read here, so nothing passes for a number or a
 * text unless it is one: `String([100])` is the id of a person.
 */
import type { Message as TelegramMessage, Update } from 'grammy/types';
import * as z from 'zod';
import { GENERAL_TOPIC } from '../../src/config/settings.js';
import { UsageError } from '../../src/errors.js';
import type { ChatMessage } from '../intake/admission.js';

/** The bot as the API introduced it. */
export interface Bot {
  readonly id: number;
  readonly username: string;
}

/** How words of others come from a sender: forwarded, or written by a bot that the sender used. */
export type Relay = 'forwarded' | 'via_bot';

export type Incoming =
  /** `relay`: null if the sender has typed it. */
  | { readonly kind: 'text' | 'edited'; readonly message: ChatMessage; readonly relay: Relay | null }
  /** A message that is not text; `what` as a person calls it. */
  | { readonly kind: 'not_text'; readonly message: ChatMessage; readonly what: string; readonly album: string | null }
  | { readonly kind: 'migrated'; readonly chatId: string; readonly toChatId: string }
  /** Joins, pins, new topics, and the like. */
  | { readonly kind: 'nothing' };

const id = z.int();
const name = z.string().optional();
/** A person or a chat. */
const senderSchema = z.object({ id, title: name, first_name: name, last_name: name });
type Sender = z.infer<typeof senderSchema>;
const messageSchema = z.looseObject({
  message_id: id,
  chat: z.looseObject({ id }),
  from: senderSchema.optional(),
  sender_chat: senderSchema.optional(),
  message_thread_id: id.optional(),
  is_topic_message: z.boolean().optional(),
  is_automatic_forward: z.boolean().optional(),
  forward_origin: z.looseObject({ type: z.string() }).optional(),
  via_bot: z.looseObject({ id }).optional(),
  reply_to_message: z.looseObject({ message_id: id }).optional(),
  migrate_to_chat_id: id.optional(),
  media_group_id: z.string().optional(),
  text: z.string().optional(),
});
type Message = z.infer<typeof messageSchema>;

/** The fields of a message that hold what a person sent, in Telegram's names. */
const CONTENTS: readonly (readonly [keyof TelegramMessage, string])[] = [
  ['photo', 'a picture'],
  ['voice', 'a voice message'],
  ['video_note', 'a video message'],
  ['audio', 'an audio file'],
  // An animation has a `document` beside it.
  ['animation', 'an animation'],
  ['video', 'a video'],
  ['document', 'a file'],
  ['sticker', 'a sticker'],
  ['location', 'a place'],
  ['contact', 'a contact'],
  ['poll', 'a poll'],
  ['dice', 'a dice'],
  ['story', 'a story'],
  ['game', 'a game'],
  ['paid_media', 'paid media'],
  ['checklist', 'a checklist'],
];

/** @throws UsageError if the update does not match the Bot API's description */
export function readUpdate(update: Update, bot: Bot): Incoming {
  if (update.edited_message !== undefined) return readEdit(checked(update.edited_message), bot);
  return update.message === undefined ? { kind: 'nothing' } : readMessage(checked(update.message), bot);
}

function readEdit(message: Message, bot: Bot): Incoming {
  const read = readMessage(message, bot);
  return read.kind === 'text' ? { ...read, kind: 'edited' } : { kind: 'nothing' };
}

function readMessage(message: Message, bot: Bot): Incoming {
  if (message.migrate_to_chat_id !== undefined) {
    return { kind: 'migrated', chatId: String(message.chat.id), toChatId: String(message.migrate_to_chat_id) };
  }
  const content = CONTENTS.find(([field]) => message[field] !== undefined);
  const isEmpty = message.text === undefined && content === undefined;
  if (isEmpty || message.is_automatic_forward === true || message.from?.id === bot.id) return { kind: 'nothing' };
  const read = chatMessage(message, withoutMention(message.text ?? '', bot.username));
  if (message.text !== undefined) return { kind: 'text', message: read, relay: relayOf(message) };
  return { kind: 'not_text', message: read, what: content?.[1] ?? 'that', album: message.media_group_id ?? null };
}

function relayOf({ forward_origin, via_bot }: Message): Relay | null {
  if (forward_origin !== undefined) return 'forwarded';
  return via_bot === undefined ? null : 'via_bot';
}

function chatMessage(message: Message, text: string): ChatMessage {
  // The sender of a message in the name of a chat, as by anonymous admins, is that chat.
  const sender = message.sender_chat ?? message.from;
  if (sender === undefined) throw new UsageError('the update holds a message without a sender');
  // Replies in ordinary groups have a thread id as well; only a topic is a place of its own.
  const topic = message.is_topic_message === true ? (message.message_thread_id ?? null) : null;
  const threadId = String(topic) === GENERAL_TOPIC ? null : topic;
  const answered = message.reply_to_message?.message_id ?? null;
  return {
    chatId: String(message.chat.id),
    threadId: threadId === null ? null : String(threadId),
    messageId: String(message.message_id),
    sender: { id: String(sender.id), name: nameOf(sender) },
    text,
    // Every message of a topic seems to answer the topic's first one.
    replyTo: answered === null || answered === threadId ? null : String(answered),
  };
}

/**
 * @returns the message, with every deciding field checked against the Bot API
 * @throws UsageError if one does not match
 */
function checked(given: TelegramMessage): Message {
  const parsed = messageSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const fields = [...new Set(parsed.error.issues.map(({ path }) => path.join('.') || 'message'))];
  throw new UsageError(`the update holds a message whose ${fields.join(', ')} cannot be read`);
}

function nameOf({ id, title, first_name, last_name }: Sender): string {
  return title ?? ([first_name, last_name].filter((part) => part !== undefined).join(' ') || String(id));
}

/** In a group people begin with `@the_bot`; the agent need not read that. */
function withoutMention(text: string, username: string): string {
  const mention = `@${username}`;
  const isMentioned = text.slice(0, mention.length).toLowerCase() === mention.toLowerCase();
  const rest = text.slice(mention.length);
  return isMentioned && /^(?:[\s,:]|$)/.test(rest) ? rest.replace(/^[\s,:]+/, '') : text;
}
