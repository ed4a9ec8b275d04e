import { isDeepStrictEqual } from 'node:util';
import { badRequest } from '../apiError.js';
import { LONGEST_TEXT, readText } from '../formatting/readText.js';
import { isRecord } from '../parameters.js';
import { isReactionEmoji } from '../reactions.js';
import { wireMessage } from '../wire.js';
import { textOf } from '../world.js';
import { findChat, findMessage, readKeyboard } from './destination.js';
import type { Method } from './method.js';

export const editMessageText: Method = (world, parameters) => {
  if (parameters.text('text') === '') throw badRequest('message text is empty');
  const formatted = readText(parameters, 'text');
  const chat = findChat(world, parameters);
  const message = findMessage(chat, parameters, 'message to edit not found');
  if (!message.author.isBot) throw badRequest("message can't be edited");
  if (message.content.kind !== 'text') throw badRequest('there is no text in the message to edit');
  if (formatted.text === '') throw badRequest('text must be non-empty');
  // Not the wording of sendMessage: this limit is found further behind in the real server.
  if (formatted.text.length > LONGEST_TEXT) throw badRequest('MESSAGE_TOO_LONG');
  const keyboard = readKeyboard(parameters);
  if (isDeepStrictEqual([formatted, keyboard], [message.content.formatted, message.keyboard])) {
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    );
  }
  message.keyboard = keyboard;
  world.edit(chat, message, { kind: 'text', formatted });
  return wireMessage(chat, message);
};

export const deleteMessage: Method = (world, parameters) => {
  const chat = findChat(world, parameters);
  const message = findMessage(chat, parameters, 'message to delete not found');
  chat.messages.delete(message.messageId);
  world.note(chat, message, 'delete', textOf(message.content), world.bot);
  return true;
};

/** A bot may choose one reaction per message; an empty list takes it away. Choosing the same again changes nothing. */
export const setMessageReaction: Method = (world, parameters) => {
  const emoji = (parameters.list('reaction') ?? []).map(readReaction);
  const chat = findChat(world, parameters);
  const message = findMessage(chat, parameters, 'message to react not found');
  if (!emoji.every(isReactionEmoji)) throw badRequest('REACTION_INVALID');
  if (emoji.length > 1) throw badRequest('REACTIONS_TOO_MANY');
  if (isDeepStrictEqual(message.reactions.get(world.bot.id) ?? [], emoji)) return true;
  if (emoji.length === 0) message.reactions.delete(world.bot.id);
  else message.reactions.set(world.bot.id, emoji);
  world.note(chat, message, 'reaction', emoji.join(''), world.bot);
  return true;
};

function readReaction(reaction: unknown): string {
  if (!isRecord(reaction)) throw badRequest("can't parse ReactionType: expected an Object");
  if (reaction.type === 'custom_emoji') throw badRequest('REACTION_INVALID');
  if (reaction.type !== 'emoji') throw badRequest("can't parse ReactionType: invalid reaction type specified");
  if (typeof reaction.emoji !== 'string') throw badRequest('can\'t parse ReactionType: Can\'t find field "emoji"');
  return reaction.emoji;
}
