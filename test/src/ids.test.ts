import { expect, test } from '@jest/globals';
import { timeOfUlid, ulid } from '../../src/ids.js';
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
