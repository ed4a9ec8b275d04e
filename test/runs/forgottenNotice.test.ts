import { expect, test } from '@jest/globals';
import { ForgottenNotice } from '../../bridge/runs/forgottenNotice.js';
import type { CriticalEvent } from '../../src/incidents.js';
import { createLogger } from '../../src/logger.js';
import { createRedactor } from '../../src/redact.js';
import { SECOND } from '../../src/time.js';
import { ManualClock } from '../harness/clock.js';

test('what the store forgot is gathered into one event; where a person is told of it, that is written at once', async () => {
  const clock = new ManualClock();
  const logger = createLogger({ level: 'debug', redact: createRedactor([]), clock, destinations: [] });
  const written: CriticalEvent[] = [];
  const events = { logCriticalEvent: async (event: CriticalEvent) => void written.push(event) };
  const notice = new ForgottenNotice({ clock, logger, events, host: 'here' });
  notice.note('one');
  notice.note('two');
  expect(written).toEqual([]);
  notice.note('told', true);
  expect(written.map(({ details }) => details?.sessions)).toEqual([['one', 'two', 'told']]);
  notice.note('three');
  await clock.advance(10 * SECOND);
  expect(written.map(({ details }) => details?.sessions)).toEqual([['one', 'two', 'told'], ['three']]);
  await notice.stop();
  expect(written).toHaveLength(2);
});
