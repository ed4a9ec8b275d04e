/** The people in the chats: they write, tap, react, and open topics. Whatever they do reaches the bot as an update. */
import { SECOND } from '../../../src/time.js';
import type { FormattedText } from './formatting/formattedText.js';
import { LONGEST_TEXT } from './formatting/readText.js';
import { openTopic, setTopicClosed } from './methods/topics.js';
import { isReactionEmoji } from './reactions.js';
import { wireChat, wireMessage, wireUser } from './wire.js';
import {
  type Author,
  type ChatMessage,
  type ChatRoom,
  type Content,
  isGroup,
  personName,
  type World,
} from './world.js';

export interface Speaker {
  /** In a private chat the chat's own id; in a group 1 unless told. */
  readonly userId?: number;
  readonly name?: string;
}

export interface SayOptions extends Speaker {
  /** Somebody else wrote it, whose name Telegram may hide; the speaker forwards it. */
  readonly forwardedFrom?: Speaker | 'hidden';
  /** Another bot offered it, and the speaker picked it. */
  readonly viaBot?: string;
  readonly threadId?: number;
  readonly replyTo?: number;
}

/** A message that is not text. */
export type Attachment =
  | { readonly kind: 'photo' | 'voice'; readonly caption?: string; readonly data?: Buffer }
  | { readonly kind: 'document'; readonly fileName: string; readonly caption?: string; readonly data?: Buffer }
  | { readonly kind: 'sticker'; readonly emoji: string };

export class People {
  readonly #world: World;
  readonly #changed: () => void;

  constructor(world: World, changed: () => void) {
    this.#world = world;
    this.#changed = changed;
  }

  say(chatId: number, text: string, options: SayOptions): number {
    if (text.trim() === '') throw new Error('a person cannot send an empty message');
    if (text.length > LONGEST_TEXT) throw new Error(`a person's message ends at ${LONGEST_TEXT} characters`);
    return this.#write(chatId, { kind: 'text', formatted: plain(text.trim()) }, options);
  }

  send(chatId: number, attachment: Attachment, options: SayOptions): number {
    return this.#write(chatId, this.#contentOf(attachment), options);
  }

  edit(chatId: number, messageId: number, text: string): void {
    const { chat, message } = this.#find(chatId, messageId);
    if (message.author.isBot) throw new Error('a person edits only what a person wrote');
    if (message.content.kind !== 'text') throw new Error(`message ${messageId} is no text`);
    this.#world.edit(chat, message, { kind: 'text', formatted: plain(text) });
    this.#world.updates.push('edited_message', wireMessage(chat, message));
    this.#changed();
  }

  react(chatId: number, messageId: number, emoji: string | null, speaker: Speaker): void {
    const { chat, message } = this.#find(chatId, messageId);
    const person = this.#enter(chat, speaker);
    if (emoji !== null && !isReactionEmoji(emoji)) throw new Error(`Telegram offers no reaction ${emoji}`);
    const before = message.reactions.get(person.id) ?? [];
    const after = emoji === null ? [] : [emoji];
    message.reactions.set(person.id, after);
    this.#world.note(chat, message, 'reaction', after.join(''), person);
    this.#world.updates.push('message_reaction', {
      chat: wireChat(chat),
      message_id: messageId,
      user: wireUser(person),
      date: Math.floor(this.#world.clock.now() / SECOND),
      old_reaction: before.map((each) => ({ type: 'emoji', emoji: each })),
      new_reaction: after.map((each) => ({ type: 'emoji', emoji: each })),
    });
    this.#changed();
  }

  tap(chatId: number, messageId: number, data: string, speaker: Speaker): string {
    const { chat, message } = this.#find(chatId, messageId);
    const button = message.keyboard.flat().find((each) => each.data === data);
    if (!button) throw new Error(`message ${messageId} has no button that sends ${JSON.stringify(data)}`);
    const person = this.#enter(chat, speaker);
    const id = String(this.#world.serial());
    this.#world.callbacks.set(id, { chatId, messageId, answer: null });
    this.#world.note(chat, message, 'tap', button.text, person);
    this.#world.updates.push('callback_query', {
      id,
      from: wireUser(person),
      message: wireMessage(chat, message),
      chat_instance: String(chatId),
      data,
    });
    this.#changed();
    return id;
  }

  createTopic(chatId: number, name: string, speaker: Speaker): number {
    const chat = this.#world.openChat(chatId, { forum: true });
    if (!chat.forum) throw new Error(`chat ${chatId} is no forum`);
    const { messageId } = openTopic(this.#world, chat, name, this.#enter(chat, speaker));
    this.#changed();
    return messageId;
  }

  setTopicClosed(chatId: number, threadId: number, closed: boolean, speaker: Speaker): void {
    const chat = this.#chat(chatId);
    setTopicClosed(this.#world, chat, threadId, closed, this.#enter(chat, speaker));
    this.#changed();
  }

  #write(chatId: number, content: Content, options: SayOptions): number {
    const chat = this.#world.openChat(chatId);
    const author = this.#enter(chat, options);
    const replyTo = options.replyTo ?? null;
    const answered = replyTo === null ? undefined : this.#find(chatId, replyTo).message;
    const topicId = options.threadId ?? answered?.topicId ?? null;
    if (topicId !== null) requireOpenTopic(chat, topicId);
    const message = this.#world.post(chat, { author, content, topicId, replyTo });
    const isForBot =
      answered?.author.isBot === true || (content.kind === 'text' && content.formatted.text.startsWith('/'));
    // https://core.telegram.org/bots/features#privacy-mode: mentions do not count.
    if (!this.#world.privacyMode || !isGroup(chatId) || isForBot) {
      this.#world.updates.push('message', { ...wireMessage(chat, message), ...this.#relayOf(options) });
    }
    this.#changed();
    return message.messageId;
  }

  #relayOf({ forwardedFrom, viaBot }: SayOptions): object {
    const date = Math.floor(this.#world.clock.now() / SECOND);
    const via_bot = { id: 4_242, is_bot: true, first_name: viaBot, username: viaBot };
    if (forwardedFrom === undefined) return viaBot === undefined ? {} : { via_bot };
    if (forwardedFrom === 'hidden')
      return { forward_origin: { type: 'hidden_user', sender_user_name: 'Somebody', date } };
    const { userId: id = 1, name = personName(id) } = forwardedFrom;
    return { forward_origin: { type: 'user', sender_user: wireUser({ id, isBot: false, name }), date } };
  }

  #contentOf(attachment: Attachment): Content {
    switch (attachment.kind) {
      case 'sticker': {
        const file = this.#world.storeFile('stickers', { fileName: 'sticker.webp', data: Buffer.from('sticker') });
        return { kind: 'sticker', file, emoji: attachment.emoji };
      }
      case 'photo':
      case 'voice':
      case 'document': {
        const fileName = attachment.kind === 'document' ? attachment.fileName : DEFAULT_FILE_NAMES[attachment.kind];
        const data = attachment.data ?? Buffer.from(attachment.kind);
        const file = this.#world.storeFile(`${attachment.kind}s`, { fileName, data });
        return { kind: attachment.kind, file, formatted: plain(attachment.caption ?? '') };
      }
      default:
        return attachment satisfies never;
    }
  }

  #enter(chat: ChatRoom, { userId, name }: Speaker): Author {
    const id = userId ?? (isGroup(chat.chatId) ? 1 : chat.chatId);
    const person = chat.members.get(id) ?? { id, isBot: false, name: name ?? personName(id) };
    chat.members.set(id, person);
    return person;
  }

  #chat(chatId: number): ChatRoom {
    const chat = this.#world.chats.get(chatId);
    if (!chat) throw new Error(`nobody has opened chat ${chatId}`);
    return chat;
  }

  #find(chatId: number, messageId: number): { chat: ChatRoom; message: ChatMessage } {
    const chat = this.#chat(chatId);
    const message = chat.messages.get(messageId);
    if (!message) throw new Error(`there is no message ${messageId} in chat ${chatId}`);
    return { chat, message };
  }
}

const DEFAULT_FILE_NAMES = { photo: 'photo.jpg', voice: 'voice.ogg' } as const;

function plain(text: string): FormattedText {
  return { text, entities: [] };
}

function requireOpenTopic(chat: ChatRoom, topicId: number): void {
  const topic = chat.topics.get(topicId);
  if (!topic) throw new Error(`chat ${chat.chatId} has no topic ${topicId}`);
  if (topic.closed) throw new Error(`topic ${topicId} of chat ${chat.chatId} is closed`);
}
