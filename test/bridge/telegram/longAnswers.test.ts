/** Answers that would flood a chat: its beginning, its end and a file are sent, or only a file. */
import { expect, test } from '@jest/globals';
import { answerParts, isFile } from '../../../bridge/telegram/markdown/answerParts.js';
import { redactShapes } from '../../../src/log/redact.js';
import { describeWithRedis } from '../../harness/redis.js';
import type { SeenMessage } from '../../peers/telegram/reader.js';
import { activeSession, answered, CHAT, deliveryOf, openScene } from './scene.js';

/** Nine messages. */
const WORDS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const LONG = WORDS.map((word) => `**${word}**\n${`${word}\n`.repeat(Math.floor(3_600 / (word.length + 1)))}`).join(
  '\n',
);
const LEFT_OUT = '[… 7 messages are left out here. The whole answer is in the file below.]';

function outline(messages: readonly SeenMessage[]): string[] {
  return messages.map(({ text, file }) => file?.name ?? text.split('\n')[0] ?? '');
}

describeWithRedis('an answer of many messages', () => {
  // rule: an-answer-floods-no-chat
  test('comes as its beginning, its end, and a file with all of it', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), LONG);
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    const messages = scene.peer.botMessages(CHAT);
    expect(outline(messages)).toEqual(['one', LEFT_OUT, 'nine', 'popoto-answer.md']);
    expect(messages.at(-1)?.file?.content).toBe(LONG);
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    expect(scene.peer.botMessages(CHAT)).toHaveLength(4);
  });

  // rule: an-answer-floods-no-chat
  test('comes whole in messages if its file is refused', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), LONG);
    const description = 'Bad Request: not enough rights to send documents to the chat';
    scene.peer.inject({ kind: 'bad_request', description, method: 'sendDocument' });
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    const middle = WORDS.slice(1, -1);
    expect(outline(scene.peer.botMessages(CHAT))).toEqual(['one', LEFT_OUT, 'nine', ...middle]);
  });

  test('comes as a file alone if it is no text', async () => {
    const scene = await openScene();
    const bytes = Buffer.from(Array.from({ length: 30_000 }, (_, index) => (index * 7_919) % 256)).toString();
    const session = await answered(scene, await activeSession(scene), bytes);
    await deliveryOf(scene).deliver(session.session_id);
    expect(outline(scene.peer.botMessages(CHAT))).toEqual([
      expect.stringMatching(/^The answer is \d+ KB that are no text\. They come as a file\.$/),
      'popoto-answer.txt',
    ]);
  });
});

test.each([
  ['Cyrillic', 'Привет, мир. '.repeat(300)],
  ['Chinese', '你好,世界。'.repeat(300)],
  ['a drawing with colours', '\u001b[31mred\u001b[0m and plain words around it '.repeat(100)],
  ['a line with one broken byte', `${'words and words '.repeat(100)}\ufffd`],
])('%s is text', (_, text) => {
  const parts = answerParts(text, redactShapes, null);
  expect(parts.some((part) => !isFile(part) && /no text/.test(part.plain))).toBe(false);
});
