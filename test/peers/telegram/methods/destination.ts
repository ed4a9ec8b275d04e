/** Where a method's message goes, refused as the server would refuse it. */
import { badRequest } from '../apiError.js';
import { asInteger, isRecord, type MethodParameters } from '../parameters.js';
import { type Button, type ChatMessage, type ChatRoom, isGroup, type World } from '../world.js';

/** https://core.telegram.org/bots/api#inlinekeyboardbutton */
const LONGEST_CALLBACK_DATA_BYTES = 64;

export interface Destination {
  readonly chat: ChatRoom;
  readonly topicId: number | null;
  readonly replyTo: number | null;
}

/** @throws ApiError where nobody of this chat has ever met the bot */
export function findChat(world: World, parameters: MethodParameters): ChatRoom {
  if (!parameters.has('chat_id')) throw badRequest('chat_id is empty');
  const chat = world.chats.get(parameters.integer('chat_id') ?? Number.NaN);
  if (!chat) throw badRequest('chat not found');
  return chat;
}

/** @param complaint what the server says where the message is not there */
export function findMessage(chat: ChatRoom, parameters: MethodParameters, complaint: string): ChatMessage {
  const message = chat.messages.get(parameters.integer('message_id') ?? Number.NaN);
  if (!message) throw badRequest(complaint);
  return message;
}

/**
 * The thread and the message answered must exist. A message that answers one of another topic is refused here; the real
 * server only drops the reference, which a test would not see.
 */
export function findDestination(world: World, parameters: MethodParameters): Destination {
  const chat = findChat(world, parameters);
  const answered = findAnswered(chat, parameters);
  const asked = parameters.integer('message_thread_id');
  if (asked !== null) requireThread(chat, asked);
  const topicId = chat.forum ? (asked ?? answered?.topicId ?? null) : null;
  if (answered && chat.forum && answered.topicId !== topicId) throw badRequest('message to be replied not found');
  if (topicId !== null && chat.topics.get(topicId)?.closed) throw badRequest('TOPIC_CLOSED');
  return { chat, topicId, replyTo: answered?.messageId ?? null };
}

/** Outside forums a thread is a chain of replies in a supergroup, named by its first message. */
function requireThread(chat: ChatRoom, threadId: number): void {
  const exists = chat.forum ? chat.topics.has(threadId) : isGroup(chat.chatId) && chat.messages.has(threadId);
  if (!exists) throw badRequest('message thread not found');
}

function findAnswered(chat: ChatRoom, parameters: MethodParameters): ChatMessage | null {
  const reply = parameters.object('reply_parameters');
  if (reply === null) return null;
  const messageId = asInteger(reply.message_id);
  if (messageId === null) throw badRequest('can\'t parse reply parameters: Can\'t find field "message_id"');
  const answered = chat.messages.get(messageId);
  if (!answered && reply.allow_sending_without_reply !== true) throw badRequest('message to be replied not found');
  return answered ?? null;
}

export function readKeyboard(parameters: MethodParameters): readonly (readonly Button[])[] {
  const rows = parameters.object('reply_markup')?.inline_keyboard;
  if (!Array.isArray(rows)) return [];
  return rows.map((row: unknown) => {
    if (!Array.isArray(row)) throw badRequest('inline keyboard row must be an Array');
    return row.map(readButton);
  });
}

function readButton(button: unknown): Button {
  if (!isRecord(button) || typeof button.text !== 'string' || button.text === '') {
    throw badRequest('can\'t parse inline keyboard button: Can\'t find field "text"');
  }
  const data = button.callback_data;
  if (typeof data !== 'string') return { text: button.text, data: null };
  if (data === '' || Buffer.byteLength(data) > LONGEST_CALLBACK_DATA_BYTES) throw badRequest('BUTTON_DATA_INVALID');
  return { text: button.text, data };
}
