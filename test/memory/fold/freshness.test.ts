import { expect, test } from '@jest/globals';
import { checkIfResumedSession, freshnessOf, isStateStale, sessionStateOf } from '../../../memory/fold/freshness.js';
import { HOUR } from '../../../src/time.js';

const HOURS = { resumable_h: 1, stale_h: 48, critical_h: 168, archivable_h: 720 };
const NOW = Date.UTC(2026, 10, 1);

test.each([
  [-1, 'fresh'],
  [0, 'fresh'],
  [HOUR - 1, 'fresh'],
  [HOUR, 'resumable'],
  [48 * HOUR - 1, 'resumable'],
  [48 * HOUR, 'stale'],
  [168 * HOUR, 'critical'],
  [720 * HOUR - 1, 'critical'],
  [720 * HOUR, 'archivable'],
] as const)('%i ms after its last activity a session is %s', (age, freshness) => {
  expect(freshnessOf(NOW - age, NOW, HOURS)).toBe(freshness);
  expect(checkIfResumedSession(NOW - age, NOW, HOURS)).toBe(freshness === 'resumable');
  expect(isStateStale(NOW - age, NOW, HOURS).stale).toBe(age >= 48 * HOUR);
});

test('a session without any activity is critical, and its hours are unknown', () => {
  expect(freshnessOf(null, NOW, HOURS)).toBe('critical');
  expect(isStateStale(null, NOW, HOURS)).toEqual({ stale: true, critical: true, hours: null });
  expect(isStateStale(NOW + HOUR, NOW, HOURS)).toEqual({ stale: false, critical: false, hours: 0 });
});

test.each([
  ['new', 'resumable', false, false],
  ['active', 'fresh', true, false],
  ['resumed', 'resumable', true, false],
  ['stale', 'stale', true, false],
  ['stale', 'archivable', true, false],
  ['compacted', 'fresh', true, true],
] as const)("the older tracker's word is %s for a session that is %s", (word, freshness, isUsed, isCompacted) => {
  expect(sessionStateOf(freshness, { isUsed, isCompacted })).toBe(word);
});
