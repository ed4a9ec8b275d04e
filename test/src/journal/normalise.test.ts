import { describe, expect, test } from '@jest/globals';
import { instantOf } from '../../../src/journal/normalise.js';
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { seededRandom } from './random.js';

describe('an instant in the format of our own lines', () => {
  test('is parsed like Date, whatever was read before', () => {
    const random = seededRandom(7);
    const texts = Array.from({ length: 5_000 }, () =>
      new Date(Date.UTC(2020, 0) + random.below(20_000) * DAY + random.below(DAY)).toISOString(),
    );
    expect(texts.filter((text) => instantOf(text) !== Date.parse(text))).toEqual([]);
  });

  test.each([
    ['2026-02-05T24:00:00.000Z', Date.UTC(2026, 1, 6)],
    ['2026-02-05T23:59:60.000Z', Date.UTC(2026, 1, 6)],
    ['2026-02-05T24:00:10.000Z', null],
    ['2026-02-05T10:60:00.000Z', null],
    ['2026-02-05T10:00:61.000Z', null],
    ['2026-13-05T10:00:00.000Z', null],
    ['2026-00-05T10:00:00.000Z', null],
    ['2026-02-0aT10:00:00.000Z', null],
    ['2026-02-05T1a:00:00.000Z', null],
    ['2026-02-05T10:00:00.00aZ', null],
    ['2026/02/05T10:00:00.000Z', null],
    ['2026-02-05T10:00:00.000X', null],
    ['2026-02-05T10:00:00,000Z', null],
  ])('%s is %s', (text, instant) => {
    expect(instantOf('2026-02-05T00:00:00.000Z')).toBe(Date.UTC(2026, 1, 5));
    expect(instantOf(text)).toBe(instant);
  });

  test('is the same in every other format', () => {
    const instant = Date.UTC(2026, 1, 5) + 10 * HOUR + 7 * MINUTE + 3 * SECOND;
    for (const text of ['2026-02-05T10:07:03Z', '2026-02-05 10:07:03', '2026-02-05T12:07:03.000+02:00']) {
      expect(instantOf(text)).toBe(instant);
    }
  });
});
