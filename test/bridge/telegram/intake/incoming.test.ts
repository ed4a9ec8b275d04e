/** Updates that are not what the Bot API describes: nothing in them is taken for an id that it is not. */
import { expect, test } from '@jest/globals';
import type { Update } from 'grammy/types';
import { readUpdate } from '../../../../bridge/telegram/intake/incoming.js';

const BOT = { id: 7, username: 'the_bot' };
const MESSAGE = {
  message_id: 5,
  date: 0,
  chat: { id: -100, type: 'supergroup', title: 'Group' },
  from: { id: 100, is_bot: false, first_name: 'Ann' },
  text: 'do it',
};

function read(changes: object) {
  return readUpdate({ update_id: 1, message: { ...MESSAGE, ...changes } } as unknown as Update, BOT);
}

test('a message in the format of Telegram is parsed', () => {
  expect(read({})).toMatchObject({ kind: 'text', message: { chatId: '-100', sender: { id: '100', name: 'Ann' } } });
});

// rule: a-stranger-runs-nothing
test.each([
  ['from.id', { from: { ...MESSAGE.from, id: [100] } }],
  ['from.id', { from: { ...MESSAGE.from, id: '100' } }],
  ['from.id', { from: { ...MESSAGE.from, id: { toString: '100' } } }],
  ['from.id', { from: { ...MESSAGE.from, id: 100.5 } }],
  ['from.first_name', { from: { ...MESSAGE.from, first_name: ['Ann'] } }],
  ['sender_chat.id', { sender_chat: { id: [100], type: 'channel' } }],
  ['sender_chat', { sender_chat: [100] }],
  ['chat.id', { chat: { ...MESSAGE.chat, id: [-100] } }],
  ['chat.id', { chat: { ...MESSAGE.chat, id: '-100' } }],
  ['chat', { chat: null }],
  ['message_id', { message_id: ['5'] }],
  ['is_topic_message', { is_topic_message: 'true', message_thread_id: 3 }],
  ['message_thread_id', { is_topic_message: true, message_thread_id: [3] }],
  ['reply_to_message.message_id', { reply_to_message: { message_id: ['5'] } }],
  ['forward_origin', { forward_origin: [1] }],
  ['forward_origin.type', { forward_origin: {} }],
  ['via_bot.id', { via_bot: { id: '9' } }],
  ['migrate_to_chat_id', { text: undefined, migrate_to_chat_id: [-200] }],
  ['text', { text: ['do it'] }],
])('a message whose %s has another type is refused: %j', (field, changes) => {
  expect(() => read(changes)).toThrow(`the update holds a message whose ${field} cannot be read`);
});

test('a value that is not a message is refused', () => {
  for (const message of [null, [], 'text', 5]) {
    expect(() => readUpdate({ update_id: 1, message } as unknown as Update, BOT)).toThrow('cannot be read');
    expect(() => readUpdate({ update_id: 1, edited_message: message } as unknown as Update, BOT)).toThrow(
      'cannot be read',
    );
  }
});

test('a picture whose caption mentions the bot only after an edit is for it; a place that moves is not', () => {
  const edit = (changes: object) =>
    readUpdate({ update_id: 1, edited_message: { ...MESSAGE, text: undefined, ...changes } } as unknown as Update, BOT);
  const picture = edit({ photo: [{}], caption: 'what is this, @the_bot?' });
  expect(picture).toMatchObject({ kind: 'not_text', what: 'a picture', isAddressed: true });
  expect(edit({ location: {}, reply_to_message: { message_id: 1, from: BOT } })).toEqual({ kind: 'nothing' });
});
