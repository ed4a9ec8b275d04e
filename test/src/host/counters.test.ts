import { platform } from 'node:os';
import { expect, test } from '@jest/globals';
import { leastSinceBootMs, systemCounters } from '../../../src/host/counters.js';
import { ManualClock } from '../../harness/clock.js';

const testOnLinux = platform() === 'linux' ? test : test.skip;

testOnLinux('the time since the boot is read again after a second, and counted on until then', async () => {
  const clock = new ManualClock();
  const read = systemCounters.sinceBootMs() ?? 0;
  const first = leastSinceBootMs(clock) ?? 0;
  expect(first).toBeGreaterThanOrEqual(read);
  await clock.advance(999);
  expect(leastSinceBootMs(clock)).toBe(first + 999);
  // Only the test's clock has moved: what is read is the host's.
  await clock.advance(1);
  const again = leastSinceBootMs(clock) ?? 0;
  expect(again).toBeGreaterThanOrEqual(first);
  expect(again).toBeLessThanOrEqual(systemCounters.sinceBootMs() ?? 0);
});
