import { expect, test } from '@jest/globals';
import { botOfSession, revivalSessionId, telegramSessionId, timeOfUlid, ulid } from '../../src/ids.js';
import { type Clock, systemClock } from '../../src/time.js';

const NOW = Date.parse('2026-02-05T10:00:00.123Z');
const MANY = 5_000;
const TIME_DIGITS = 10;

test('ids of one instant are all different, with random digits, and contain their instant', () => {
  const clock: Clock = { ...systemClock, now: () => NOW };
  const ids = Array.from({ length: MANY }, () => ulid(clock));
  expect(new Set(ids).size).toBe(MANY);
  expect(ids.filter((id) => timeOfUlid(id) !== NOW)).toEqual([]);
  for (let at = TIME_DIGITS; at < 26; at += 1) expect(new Set(ids.map((id) => id[at])).size).toBe(32);
});

test.each([
  ['popoto', '4242', '5', null, 'tg_popoto_4242_5'],
  ['popoto', '-5294327191', '4469', '7000', 'tg_popoto_-5294327191_b7000_4469'],
  ['my_b5', '6', '7', null, 'tg_my_b5_6_7'],
  ['my_4_b5', '6', '7', '8', 'tg_my_4_b5_6_b8_7'],
  ['my_4_b5', '-6', '7', null, 'tg_my_4_b5_-6_7'],
])(
  'the id of a session of project %s, chat %s, message %s and bot %s names that bot',
  (key, chat, id, bot, expected) => {
    expect(telegramSessionId(key, chat, id, bot)).toBe(expected);
    expect(botOfSession(expected)).toBe(bot);
    expect(botOfSession(revivalSessionId(expected))).toBe(bot);
  },
);
