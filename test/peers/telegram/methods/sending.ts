import { ApiError, badRequest } from '../apiError.js';
import { LONGEST_CAPTION, LONGEST_TEXT, readText } from '../formatting/readText.js';
import type { MethodParameters } from '../parameters.js';
import { wireMessage } from '../wire.js';
import { type StoredFile, type World, whoIs } from '../world.js';
import { findDestination, readKeyboard } from './destination.js';
import type { Method } from './method.js';

/** https://core.telegram.org/bots/api#senddocument */
const LARGEST_UPLOAD_BYTES = 50 * 1024 * 1024;

const CHAT_ACTIONS = [
  'typing',
  'upload_photo',
  'record_video',
  'upload_video',
  'record_voice',
  'upload_voice',
  'upload_document',
  'choose_sticker',
  'find_location',
  'record_video_note',
  'upload_video_note',
];

export const sendMessage: Method = (world, parameters) => {
  if (parameters.text('text') === '') throw badRequest('message text is empty');
  const formatted = readText(parameters, 'text');
  const { chat, topicId, replyTo } = findDestination(world, parameters);
  if (formatted.text === '') throw badRequest('text must be non-empty');
  if (formatted.text.length > LONGEST_TEXT) throw badRequest('message is too long');
  const keyboard = readKeyboard(parameters);
  const content = { kind: 'text', formatted } as const;
  const silent = parameters.flag('disable_notification');
  return wireMessage(chat, world.post(chat, { author: world.bot, content, topicId, replyTo, keyboard, silent }));
};

export const sendDocument: Method = (world, parameters) => {
  const formatted = readText(parameters, 'caption');
  const { chat, topicId, replyTo } = findDestination(world, parameters);
  if (formatted.text.length > LONGEST_CAPTION) throw badRequest('message caption is too long');
  const keyboard = readKeyboard(parameters);
  const content = { kind: 'document', file: readDocument(world, parameters), formatted } as const;
  const silent = parameters.flag('disable_notification');
  return wireMessage(chat, world.post(chat, { author: world.bot, content, topicId, replyTo, keyboard, silent }));
};

/** A new upload, or a file that the server has already, by its id. */
function readDocument(world: World, parameters: MethodParameters): StoredFile {
  const upload = parameters.file('document');
  if (upload) {
    if (upload.data.length === 0) throw badRequest('file must be non-empty');
    if (upload.data.length > LARGEST_UPLOAD_BYTES) throw new ApiError(413, 'Request Entity Too Large');
    return world.storeFile('documents', upload);
  }
  const fileId = parameters.text('document');
  if (fileId === '') throw badRequest('there is no document in the request');
  const known = world.files.get(fileId);
  if (!known) throw badRequest('wrong file identifier/HTTP URL specified');
  return known;
}

export const sendChatAction: Method = (world, parameters) => {
  const action = parameters.text('action');
  const { chat, topicId } = findDestination(world, parameters);
  if (!CHAT_ACTIONS.includes(action)) throw badRequest('wrong parameter action in request');
  world.transcript.add({
    chat: chat.chatId,
    thread: topicId,
    who: whoIs(world.bot),
    what: 'typing',
    message_id: null,
    reply_to: null,
    text: action,
  });
  return true;
};
