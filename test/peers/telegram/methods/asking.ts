/** What a bot asks about itself and others, and how it is fed. */
import { ApiError, badRequest } from '../apiError.js';
import { isRecord } from '../parameters.js';
import { wireChat, wireUser } from '../wire.js';
import type { BotCommand, World } from '../world.js';
import { findChat } from './destination.js';
import type { Method } from './method.js';

/** https://core.telegram.org/bots/api#answercallbackquery */
const LONGEST_NOTICE = 200;

export const getMe: Method = (world) => ({
  ...wireUser(world.bot),
  username: world.botUsername,
  can_join_groups: true,
  can_read_all_group_messages: !world.privacyMode,
  supports_inline_queries: false,
  can_connect_to_business: false,
  has_main_web_app: false,
});

export const getUpdates: Method = (world, parameters, gone) => {
  if (world.webhook !== null) {
    throw new ApiError(
      409,
      "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    );
  }
  return world.updates.poll(
    {
      offset: parameters.integer('offset'),
      limit: parameters.integer('limit'),
      timeoutS: parameters.integer('timeout') ?? 0,
      allowedUpdates: parameters.list('allowed_updates')?.map(String) ?? null,
    },
    gone,
  );
};

export const getWebhookInfo: Method = (world) => ({
  url: world.webhook ?? '',
  has_custom_certificate: false,
  pending_update_count: world.updates.unconfirmed.length,
});

export const deleteWebhook: Method = (world, parameters) => {
  world.webhook = null;
  if (parameters.flag('drop_pending_updates')) world.updates.dropAll();
  return true;
};

export const setMyCommands: Method = (world, parameters) => {
  world.commands = (parameters.list('commands') ?? []).map(readCommand);
  return true;
};

export const getChat: Method = (world, parameters) => ({
  ...wireChat(findChat(world, parameters)),
  accent_color_id: 0,
  max_reaction_count: 11,
});

/** Rights are not modelled: whoever spoke in the chat, and the bot, is a member. */
export const getChatMember: Method = (world, parameters) => {
  const chat = findChat(world, parameters);
  const userId = parameters.integer('user_id');
  if (userId === null) throw badRequest('invalid user_id specified');
  const member = userId === world.bot.id ? world.bot : chat.members.get(userId);
  if (!member) throw badRequest('PARTICIPANT_ID_INVALID');
  return { status: 'member', user: wireUser(member) };
};

export const getFile: Method = (world, parameters) => {
  const file = world.files.get(parameters.text('file_id'));
  if (!file) throw badRequest('invalid file_id');
  return {
    file_id: file.fileId,
    file_unique_id: `u_${file.fileId}`,
    file_size: file.data.length,
    file_path: file.path,
  };
};

export const answerCallbackQuery: Method = (world, parameters) => {
  const callback = world.callbacks.get(parameters.text('callback_query_id'));
  if (!callback || callback.answer) {
    throw badRequest('query is too old and response timeout expired or query ID is invalid');
  }
  const text = parameters.text('text');
  if (text.length > LONGEST_NOTICE) throw badRequest('MESSAGE_TOO_LONG');
  callback.answer = { text, alert: parameters.flag('show_alert') };
  noteNotice(world, callback.chatId, callback.messageId, text);
  return true;
};

function noteNotice(world: World, chatId: number, messageId: number, text: string): void {
  const chat = world.chats.get(chatId);
  const message = chat?.messages.get(messageId);
  if (chat && message && text !== '') world.note(chat, message, 'notice', text, world.bot);
}

function readCommand(value: unknown): BotCommand {
  const { command, description } = isRecord(value) ? value : {};
  if (typeof command !== 'string' || !/^\/?[a-z0-9_]{1,32}$/.test(command)) throw badRequest('BOT_COMMAND_INVALID');
  if (typeof description !== 'string' || description === '' || description.length > 256) {
    throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID');
  }
  return { command: command.replace(/^\//, ''), description };
}
