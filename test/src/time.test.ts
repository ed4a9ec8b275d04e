import { describe, expect, test } from '@jest/globals';
import { isoTime } from '../../src/time.js';
import { seededRandom } from './journal/random.js';

const NOW = Date.parse('2026-02-05T10:00:00.000Z');
const LAST_DATE_MS = 8.64e15;

describe('an instant', () => {
  test('is formatted as by the language, whichever was formatted before', () => {
    const random = seededRandom(12);
    const near = () => NOW + random.below(3_000) - 1_500;
    const aroundTheEpoch = () => random.below(5_000) - 2_500;
    const anywhere = () => (random.below(2) === 0 ? 1 : -1) * random.below(2 ** 31) * random.below(4_000_000);
    const withFraction = () => aroundTheEpoch() + random.below(1_000) / 1_000;
    const instants = Array.from({ length: 20_000 }, () =>
      random.pick([near, near, aroundTheEpoch, anywhere, withFraction])(),
    );
    expect(instants.filter((instant) => isoTime(instant) !== new Date(instant).toISOString())).toEqual([]);
  });

  test('beyond all dates is the last or the first one, and none at all has no date', () => {
    expect(isoTime(Number.POSITIVE_INFINITY)).toBe(new Date(LAST_DATE_MS).toISOString());
    expect(isoTime(-2 * LAST_DATE_MS)).toBe(new Date(-LAST_DATE_MS).toISOString());
    expect(isoTime(1 - LAST_DATE_MS)).toBe(new Date(1 - LAST_DATE_MS).toISOString());
    const around = [0, 5, -5, 7].map((ms) => LAST_DATE_MS + ms);
    for (const instant of [...around, ...around.map((ms) => -ms)]) {
      const possible = Math.max(-LAST_DATE_MS, Math.min(LAST_DATE_MS, instant));
      expect(isoTime(instant)).toBe(new Date(possible).toISOString());
    }
    expect(() => isoTime(Number.NaN)).toThrow(RangeError);
    expect(isoTime(NOW)).toBe('2026-02-05T10:00:00.000Z');
  });
});
