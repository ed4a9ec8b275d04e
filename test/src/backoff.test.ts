import { expect, test } from '@jest/globals';
import { pauseAfter } from '../../src/time.js';

test('the pause doubles with every failure in a row, up to its limit, however many there were', () => {
  const backoff = { firstMs: 200, longestMs: 5_000 };
  const pauses = [1, 2, 3, 4, 5, 6, 7, 5_000].map((failures) => pauseAfter(failures, backoff));
  expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
});
