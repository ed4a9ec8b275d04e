/** The topic General of a forum: Telegram shows it as number 1 in links, and its messages carry no topic. */
import { expect, test } from '@jest/globals';
import type { Update } from 'grammy/types';
import { readUpdate } from '../../../bridge/telegram/intake/incoming.js';
import { directoryFor, servedPlaces } from '../../../src/config/servedPlaces.js';
import { placeOf } from '../../../src/config/settings.js';
import { project, testSettings } from './scene.js';

const FORUM = '-1002';

function settingsWith(topics: Readonly<Record<string, string | null>>) {
  const places = Object.entries(topics).map(([directory, threadId]) => ({
    ...{ chatId: FORUM, threadId, directory },
    trigger: 'any' as const,
  }));
  return testSettings([{ ...project('popoto', '/project', []), places }]);
}

// rule: topic-one-is-general
test('is served by a place with the topic 1, and other topics are not', () => {
  const settings = settingsWith({ '/general': '1' });
  expect(placeOf(settings, FORUM, null)?.place.directory).toBe('/general');
  expect(placeOf(settings, FORUM, '5')).toBeNull();
  expect(directoryFor(servedPlaces(settings), 'popoto', FORUM, null)).toBe('/general');
});

test('has its own directory beside a place for all other topics', () => {
  const settings = settingsWith({ '/general': '1', '/others': null, '/five': '5' });
  const directoryOf = (topic: string | null) => placeOf(settings, FORUM, topic)?.place.directory;
  expect([null, '5', '6'].map(directoryOf)).toEqual(['/general', '/five', '/others']);
  const served = servedPlaces(settings);
  expect([null, '5', '6'].map((topic) => directoryFor(served, 'popoto', FORUM, topic))).toEqual([
    '/general',
    '/five',
    '/others',
  ]);
});

// rule: topic-one-is-general
test('is no topic in a message, whatever a client sends: an answer goes there without a topic', () => {
  const message = {
    message_id: 7,
    date: 1,
    chat: { id: Number(FORUM), type: 'supergroup', title: 'forum', is_forum: true },
    from: { id: 1, is_bot: false, first_name: 'A' },
    text: 'hello',
  };
  const bot = { id: 9, username: 'bot' } as Parameters<typeof readUpdate>[1];
  const read = (fields: object) => readUpdate({ update_id: 1, message: { ...message, ...fields } } as Update, bot);
  expect(JSON.stringify(read({}))).toContain('"threadId":null');
  expect(JSON.stringify(read({ is_topic_message: true, message_thread_id: 1 }))).toContain('"threadId":null');
  expect(JSON.stringify(read({ is_topic_message: true, message_thread_id: 5 }))).toContain('"threadId":"5"');
});
