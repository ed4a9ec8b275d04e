/** The chats as a person who opens them now sees them. */

import type { TextEntity } from './formatting/formattedText.js';
import type { Call } from './server.js';
import type { QueuedUpdate } from './updateQueue.js';
import {
  type Button,
  type ChatMessage,
  type ChatRoom,
  type Content,
  entitiesOf,
  type FormerText,
  textOf,
  type World,
  whoIs,
} from './world.js';

export interface SeenMessage {
  readonly messageId: number;
  readonly kind: Content['kind'];
  /** `bot` or `person {user id}`. */
  readonly who: string;
  /** Of who wrote it, as the chat shows it. */
  readonly name: string;
  readonly byBot: boolean;
  /** The topic; null outside topics. */
  readonly threadId: number | null;
  readonly replyTo: number | null;
  /** As shown, without markup; `[document notes.txt] caption` for files. */
  readonly text: string;
  readonly entities: readonly TextEntity[];
  /** It made no sound. */
  readonly silent: boolean;
  /** The wordings before the present one, oldest first. */
  readonly formerTexts: readonly FormerText[];
  readonly reactions: readonly { readonly userId: number; readonly emoji: string }[];
  readonly buttons: readonly Button[];
  /** UTC epoch milliseconds. */
  readonly sentAt: number;
  readonly editedAt: number | null;
  /** What opens where somebody taps the file; null where there is none. */
  readonly file: { readonly name: string; readonly content: string } | null;
}

export interface SeenChat {
  readonly chatId: number;
  readonly title: string;
  readonly forum: boolean;
  readonly topics: readonly { readonly threadId: number; readonly name: string; readonly closed: boolean }[];
  readonly messages: readonly SeenMessage[];
}

/** Everything at the server that is worth keeping; survives JSON. */
export interface TelegramState {
  readonly chats: readonly SeenChat[];
  readonly commands: World['commands'];
  readonly transcript: World['transcript']['entries'];
  readonly unconfirmedUpdates: readonly QueuedUpdate[];
  readonly calls: readonly Call[];
}

/** @returns the messages that stand in a chat now, oldest first; none where nobody has spoken yet */
export function seenMessages(world: World, chatId: number): SeenMessage[] {
  return [...(world.chats.get(chatId)?.messages.values() ?? [])].map(seen);
}

export function readState(world: World, calls: readonly Call[]): TelegramState {
  return structuredClone({
    chats: [...world.chats.values()].map((chat) => seenChat(world, chat)),
    commands: world.commands,
    transcript: world.transcript.entries,
    unconfirmedUpdates: world.updates.unconfirmed,
    calls: calls.map((call) => ({ ...call })),
  });
}

function seenChat(world: World, chat: ChatRoom): SeenChat {
  return {
    chatId: chat.chatId,
    title: chat.title,
    forum: chat.forum,
    topics: [...chat.topics].map(([threadId, topic]) => ({ threadId, name: topic.name, closed: topic.closed })),
    messages: seenMessages(world, chat.chatId),
  };
}

function seen(message: ChatMessage): SeenMessage {
  const { content } = message;
  return {
    messageId: message.messageId,
    kind: content.kind,
    who: whoIs(message.author),
    name: message.author.name,
    byBot: message.author.isBot,
    threadId: message.topicId,
    replyTo: message.replyTo,
    text: textOf(content),
    entities: entitiesOf(content),
    silent: message.silent,
    formerTexts: [...message.formerTexts],
    reactions: [...message.reactions].flatMap(([userId, all]) => all.map((emoji) => ({ userId, emoji }))),
    buttons: message.keyboard.flat(),
    sentAt: message.sentAt,
    editedAt: message.editedAt,
    file: 'file' in content ? { name: content.file.fileName, content: content.file.data.toString() } : null,
  };
}
