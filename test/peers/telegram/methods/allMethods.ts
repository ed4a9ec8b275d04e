import {
  answerCallbackQuery,
  deleteWebhook,
  getChat,
  getChatMember,
  getFile,
  getMe,
  getUpdates,
  getWebhookInfo,
  setMyCommands,
} from './asking.js';
import { deleteMessage, editMessageText, setMessageReaction } from './changing.js';
import type { Method } from './method.js';
import { sendChatAction, sendDocument, sendMessage } from './sending.js';
import { closeForumTopic, createForumTopic } from './topics.js';

const METHODS = {
  getMe,
  getUpdates,
  getWebhookInfo,
  deleteWebhook,
  setMyCommands,
  sendMessage,
  editMessageText,
  deleteMessage,
  setMessageReaction,
  sendChatAction,
  sendDocument,
  getFile,
  answerCallbackQuery,
  createForumTopic,
  closeForumTopic,
  getChat,
  getChatMember,
} satisfies Record<string, Method>;

export type MethodName = keyof typeof METHODS;

const BY_LOWER_CASE_NAME = new Map<string, Method>(
  Object.entries(METHODS).map(([name, method]) => [name.toLowerCase(), method]),
);

/** @returns the method, whose name the server reads without regard to case; undefined where there is none */
export function findMethod(name: string): Method | undefined {
  return BY_LOWER_CASE_NAME.get(name.toLowerCase());
}
