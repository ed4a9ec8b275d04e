/**
 * What the server knows: chats, messages, topics, files, callbacks. Plain records; the methods (the bot's side) and the
 * person (the other side) change them, the wire and the reader show them.
 */
import type { Clock } from '../../../src/time.js';
import type { FormattedText, TextEntity } from './formatting/formattedText.js';
import type { UploadedFile } from './multipart.js';
import { Transcript } from './transcript.js';
import { UpdateQueue } from './updateQueue.js';

export interface Author {
  readonly id: number;
  readonly isBot: boolean;
  readonly name: string;
}

export interface Button {
  readonly text: string;
  /** What a tap sends; null for a button that opens a URL. */
  readonly data: string | null;
}

/** A file that can be fetched by `getFile`. */
export interface StoredFile extends UploadedFile {
  readonly fileId: string;
  readonly path: string;
}

export type Content =
  | { readonly kind: 'text'; readonly formatted: FormattedText }
  | { readonly kind: 'photo' | 'voice' | 'document'; readonly file: StoredFile; readonly formatted: FormattedText }
  | { readonly kind: 'sticker'; readonly file: StoredFile; readonly emoji: string }
  | { readonly kind: 'topic_created'; readonly name: string }
  | { readonly kind: 'topic_closed' | 'topic_reopened' };

/** One wording that a message had before an edit. */
export interface FormerText {
  readonly text: string;
  readonly entities: readonly TextEntity[];
  /** Until when it stood there, UTC epoch milliseconds. */
  readonly until: number;
}

export interface ChatMessage {
  readonly messageId: number;
  readonly author: Author;
  /** UTC epoch milliseconds. */
  readonly sentAt: number;
  readonly topicId: number | null;
  /** Outside forums a reply in a supergroup belongs to the thread of the first message answered; no topic. */
  readonly replyThreadId: number | null;
  readonly replyTo: number | null;
  /** Sent with `disable_notification`: no device makes a sound. */
  readonly silent: boolean;
  content: Content;
  keyboard: readonly (readonly Button[])[];
  editedAt: number | null;
  readonly formerTexts: FormerText[];
  /** Emoji by user id. */
  readonly reactions: Map<number, readonly string[]>;
}

export interface Topic {
  readonly name: string;
  closed: boolean;
}

export interface ChatRoom {
  readonly chatId: number;
  readonly title: string;
  readonly forum: boolean;
  /** Messages that stand there now; a deleted one is gone. */
  readonly messages: Map<number, ChatMessage>;
  readonly topics: Map<number, Topic>;
  readonly members: Map<number, Author>;
  nextMessageId: number;
}

export interface Callback {
  readonly chatId: number;
  readonly messageId: number;
  answer: { readonly text: string; readonly alert: boolean } | null;
}

export interface BotCommand {
  readonly command: string;
  readonly description: string;
}

/** 1 is the message that says "group created". */
const FIRST_MESSAGE_ID = 2;

export class World {
  readonly bot: Author = { id: 7_000_000_001, isBot: true, name: 'Watchkeeper' };
  readonly botUsername = 'watchkeeper_peer_bot';
  readonly clock: Pick<Clock, 'now'>;
  readonly transcript: Transcript;
  readonly updates = new UpdateQueue();
  readonly chats = new Map<number, ChatRoom>();
  readonly files = new Map<string, StoredFile>();
  readonly callbacks = new Map<string, Callback>();
  commands: readonly BotCommand[] = [];
  /** Of the bot in groups, as @BotFather sets it. */
  privacyMode = false;
  /** Where a webhook leads; nothing is delivered to it. */
  webhook: string | null = null;
  #nextSerial = 1;

  constructor(clock: Pick<Clock, 'now'>, logFile: string | undefined) {
    this.clock = clock;
    this.transcript = new Transcript(clock, logFile);
  }

  /** @returns the chat, opened where nobody has spoken there yet */
  openChat(chatId: number, options: { title?: string; forum?: boolean } = {}): ChatRoom {
    const known = this.chats.get(chatId);
    if (known) return known;
    const chat: ChatRoom = {
      chatId,
      title: options.title ?? (isGroup(chatId) ? `Group ${-chatId}` : personName(chatId)),
      forum: options.forum ?? false,
      messages: new Map(),
      topics: new Map(),
      members: new Map(),
      nextMessageId: FIRST_MESSAGE_ID,
    };
    this.chats.set(chatId, chat);
    return chat;
  }

  /** Puts a message into a chat and into the transcript. */
  post(
    chat: ChatRoom,
    message: Pick<ChatMessage, 'author' | 'content' | 'topicId' | 'replyTo'> &
      Partial<Pick<ChatMessage, 'keyboard' | 'silent'>>,
  ): ChatMessage {
    const messageId = chat.nextMessageId;
    chat.nextMessageId += 1;
    const answered = message.replyTo === null ? undefined : chat.messages.get(message.replyTo);
    const outsideForums = isGroup(chat.chatId) && !chat.forum;
    const posted: ChatMessage = {
      messageId,
      author: message.author,
      sentAt: this.clock.now(),
      // The message that opens a topic belongs to it: its id is the topic's.
      topicId: message.content.kind === 'topic_created' ? messageId : message.topicId,
      replyThreadId: outsideForums && answered ? (answered.replyThreadId ?? answered.messageId) : null,
      replyTo: message.replyTo,
      silent: message.silent ?? false,
      content: message.content,
      keyboard: message.keyboard ?? [],
      editedAt: null,
      formerTexts: [],
      reactions: new Map(),
    };
    chat.messages.set(messageId, posted);
    this.note(chat, posted, transcriptKind(posted.content), textOf(posted.content), posted.author);
    return posted;
  }

  edit(chat: ChatRoom, message: ChatMessage, content: Content): void {
    message.formerTexts.push({
      text: textOf(message.content),
      entities: entitiesOf(message.content),
      until: this.clock.now(),
    });
    message.content = content;
    message.editedAt = this.clock.now();
    this.note(chat, message, 'edit', textOf(content), message.author);
  }

  /** Writes what somebody did to a message into the transcript. */
  note(
    chat: ChatRoom,
    message: ChatMessage,
    what: Transcript['entries'][number]['what'],
    text: string,
    who: Author,
  ): void {
    this.transcript.add({
      chat: chat.chatId,
      thread: message.topicId,
      who: whoIs(who),
      what,
      message_id: message.messageId,
      reply_to: message.replyTo,
      text,
    });
  }

  storeFile(folder: string, upload: UploadedFile): StoredFile {
    const fileId = `file_${this.serial()}`;
    const file = { ...upload, fileId, path: `${folder}/${fileId}` };
    this.files.set(fileId, file);
    return file;
  }

  serial(): number {
    const serial = this.#nextSerial;
    this.#nextSerial += 1;
    return serial;
  }
}

/** Negative ids are supergroups, positive ones the private chat with the person of that id. */
export function isGroup(chatId: number): boolean {
  return chatId < 0;
}

export function personName(userId: number): string {
  return `Person ${userId}`;
}

export function whoIs(author: Author): string {
  return author.isBot ? 'bot' : `person ${author.id}`;
}

/** @returns the message in words: its text, or what stands there instead */
export function textOf(content: Content): string {
  switch (content.kind) {
    case 'text':
      return content.formatted.text;
    case 'photo':
    case 'voice':
    case 'document':
      return `[${content.kind} ${content.file.fileName}] ${content.formatted.text}`.trim();
    case 'sticker':
      return `[sticker ${content.emoji}]`;
    case 'topic_created':
      return content.name;
    case 'topic_closed':
    case 'topic_reopened':
      return '';
    default:
      return content satisfies never;
  }
}

/** @returns what is set apart in {@link textOf}; the words before a caption move it */
export function entitiesOf(content: Content): readonly TextEntity[] {
  if (!('formatted' in content)) return [];
  const { entities, text } = content.formatted;
  const moved = textOf(content).length - text.length;
  return moved === 0 ? entities : entities.map((entity) => ({ ...entity, offset: entity.offset + moved }));
}

function transcriptKind(content: Content): 'message' | 'topic_created' | 'topic_closed' | 'topic_reopened' {
  switch (content.kind) {
    case 'topic_created':
    case 'topic_closed':
    case 'topic_reopened':
      return content.kind;
    case 'text':
    case 'photo':
    case 'voice':
    case 'document':
    case 'sticker':
      return 'message';
    default:
      return content satisfies never;
  }
}
