import { badRequest } from '../apiError.js';
import { wireMessage, wireTopic } from '../wire.js';
import type { Author, ChatMessage, ChatRoom, World } from '../world.js';
import { findChat } from './destination.js';
import type { Method } from './method.js';

/** https://core.telegram.org/bots/api#createforumtopic */
const LONGEST_TOPIC_NAME = 128;

export const createForumTopic: Method = (world, parameters) => {
  const chat = findChat(world, parameters);
  const name = parameters.text('name').trim();
  if (!chat.forum) throw badRequest('the chat is not a forum');
  if (name === '' || name.length > LONGEST_TOPIC_NAME) throw badRequest('TOPIC_TITLE_EMPTY');
  return wireTopic(openTopic(world, chat, name, world.bot).messageId, name);
};

export const closeForumTopic: Method = (world, parameters) => {
  const chat = findChat(world, parameters);
  if (!chat.forum) throw badRequest('the chat is not a forum');
  const threadId = parameters.integer('message_thread_id') ?? Number.NaN;
  const topic = chat.topics.get(threadId);
  if (!topic) throw badRequest('message thread not found');
  if (topic.closed) throw badRequest('TOPIC_NOT_MODIFIED');
  setTopicClosed(world, chat, threadId, true, world.bot);
  return true;
};

/** @returns the message that opens the topic; its id is the topic's */
export function openTopic(world: World, chat: ChatRoom, name: string, author: Author): ChatMessage {
  const message = world.post(chat, {
    author,
    content: { kind: 'topic_created', name },
    topicId: null,
    replyTo: null,
  });
  chat.topics.set(message.messageId, { name, closed: false });
  if (!author.isBot) world.updates.push('message', wireMessage(chat, message));
  return message;
}

/** @throws Error where there is no such topic */
export function setTopicClosed(world: World, chat: ChatRoom, topicId: number, closed: boolean, author: Author): void {
  const topic = chat.topics.get(topicId);
  if (!topic) throw new Error(`chat ${chat.chatId} has no topic ${topicId}`);
  topic.closed = closed;
  const content = { kind: closed ? 'topic_closed' : 'topic_reopened' } as const;
  const message = world.post(chat, { author, content, topicId, replyTo: null });
  if (!author.isBot) world.updates.push('message', wireMessage(chat, message));
}
