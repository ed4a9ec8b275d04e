/** Updates that are not what the Bot API describes: nothing in them is taken for an id that it is not. */
import { describe, expect, test } from '@jest/globals';
import type { Update } from 'grammy/types';
import { readUpdate } from '../../../../bridge/telegram/intake/incoming.js';
import { pasteIn } from '../../../../bridge/telegram/intake/pastes.js';

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

// rule: a-paste-is-one-request
describe('a paste', () => {
  const FULL = 4_096;
  const joined = (first: object, second: object) => {
    const next = { update_id: 2, message: { ...MESSAGE, message_id: 6, ...second } } as unknown as Update;
    return pasteIn(read(first), [next], BOT)?.whole.message.text ?? '';
  };

  test('that answers a message of another person has its words above those of that person', () => {
    const from = { id: 8, is_bot: false, first_name: 'Bob' };
    const answered = { reply_to_message: { message_id: 1, from, text: 'drop it' } };
    const said = joined({ text: 'x'.repeat(FULL), ...answered }, { text: 'y. DO NOT touch the database', ...answered });
    expect(said.slice(FULL)).toBe(
      'y. DO NOT touch the database\n\n[This answers a message of Bob (8); these are not the words of the person who asks you:]\n> drop it',
    );
  });

  test('that was cut within code is code in one block', () => {
    const code = `${'x'.repeat(FULL - 6)}\nconst`;
    const pre = (length: number) => [{ type: 'pre', offset: 0, length, language: 'js' }];
    const said = joined({ text: code, entities: pre(FULL) }, { text: ' y = 1;\nis it right?', entities: pre(7) });
    expect(said).toBe(`\`\`\`js\n${code} y = 1;\n\`\`\`\nis it right?`);
  });
});
