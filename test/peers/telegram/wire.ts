/** The records as the Bot API writes them in JSON (https://core.telegram.org/bots/api#available-types). */
import { SECOND } from '../../../src/time.js';
import type { FormattedText, TextEntity } from './formatting/formattedText.js';
import { type Author, type ChatMessage, type ChatRoom, type Content, isGroup } from './world.js';

type Json = Readonly<Record<string, unknown>>;

const TOPIC_COLOUR = 7_322_096;

export function wireUser(author: Author): Json {
  return { id: author.id, is_bot: author.isBot, first_name: author.name };
}

export function wireChat(chat: ChatRoom): Json {
  if (!isGroup(chat.chatId)) return { id: chat.chatId, type: 'private', first_name: chat.title };
  return { id: chat.chatId, type: 'supergroup', title: chat.title, ...(chat.forum && { is_forum: true }) };
}

/** The message without what it answers: the API nests replies one level deep. */
function wireBareMessage(chat: ChatRoom, message: ChatMessage): Json {
  const threadId = message.topicId ?? message.replyThreadId;
  return {
    message_id: message.messageId,
    from: wireUser(message.author),
    chat: wireChat(chat),
    date: seconds(message.sentAt),
    ...(message.editedAt !== null && { edit_date: seconds(message.editedAt) }),
    ...(threadId !== null && { message_thread_id: threadId }),
    ...(message.topicId !== null && { is_topic_message: true }),
    ...wireContent(message.content),
    ...(message.keyboard.length > 0 && {
      reply_markup: {
        inline_keyboard: message.keyboard.map((row) =>
          row.map(({ text, data }) => ({ text, ...(data !== null && { callback_data: data }) })),
        ),
      },
    }),
  };
}

/** In a topic, a message that answers nothing in particular is written as an answer to the topic's first message. */
export function wireMessage(chat: ChatRoom, message: ChatMessage): Json {
  const opensTopic = message.content.kind === 'topic_created';
  const answered = chat.messages.get(message.replyTo ?? (opensTopic ? Number.NaN : (message.topicId ?? Number.NaN)));
  const bare = wireBareMessage(chat, message);
  return answered ? { ...bare, reply_to_message: wireBareMessage(chat, answered) } : bare;
}

export function wireTopic(threadId: number, name: string): Json {
  return { message_thread_id: threadId, name, icon_color: TOPIC_COLOUR };
}

function wireContent(content: Content): Json {
  switch (content.kind) {
    case 'text':
      return withEntities('text', 'entities', content.formatted);
    case 'photo':
      return {
        photo: [{ ...wireFile(content), width: 640, height: 480 }],
        ...withEntities('caption', 'caption_entities', content.formatted),
      };
    case 'voice':
      return {
        voice: { ...wireFile(content), duration: 3, mime_type: 'audio/ogg' },
        ...withEntities('caption', 'caption_entities', content.formatted),
      };
    case 'document':
      return {
        document: { ...wireFile(content), file_name: content.file.fileName },
        ...withEntities('caption', 'caption_entities', content.formatted),
      };
    case 'sticker':
      return {
        sticker: {
          ...wireFile(content),
          type: 'regular',
          width: 512,
          height: 512,
          is_animated: false,
          is_video: false,
          emoji: content.emoji,
        },
      };
    case 'topic_created':
      return { forum_topic_created: { name: content.name, icon_color: TOPIC_COLOUR } };
    case 'topic_closed':
      return { forum_topic_closed: {} };
    case 'topic_reopened':
      return { forum_topic_reopened: {} };
    default:
      return content satisfies never;
  }
}

function wireFile({ file }: Extract<Content, { file: unknown }>): Json {
  return { file_id: file.fileId, file_unique_id: `u_${file.fileId}`, file_size: file.data.length };
}

function withEntities(textField: string, entitiesField: string, { text, entities }: FormattedText): Json {
  if (text === '') return {};
  const all: readonly TextEntity[] = [...entities, ...commandsIn(text)];
  return { [textField]: text, ...(all.length > 0 && { [entitiesField]: all }) };
}

/** The server marks commands by itself, wherever a word begins with a slash. */
function commandsIn(text: string): TextEntity[] {
  return [...text.matchAll(/(?<=^|\s)\/[a-zA-Z0-9_]{1,64}(?:@\w{3,32})?/g)].map((found) => ({
    type: 'bot_command',
    offset: found.index,
    length: found[0].length,
  }));
}

function seconds(epochMs: number): number {
  return Math.floor(epochMs / SECOND);
}
