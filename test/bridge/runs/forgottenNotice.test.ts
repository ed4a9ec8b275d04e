import { expect, test } from '@jest/globals';
import { ForgottenNotice } from '../../../bridge/runs/forgottenNotice.js';
import type { CriticalEvent } from '../../../src/jobs/incidents.js';
import { createLogger } from '../../../src/log/logger.js';
import { createRedactor } from '../../../src/log/redact.js';
import { SECOND } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';

// rule: a-flushed-redis-costs-no-end
test('everything that the store forgot is one event, written before a person is notified', async () => {
  const clock = new ManualClock();
  const logger = createLogger({ level: 'debug', redact: createRedactor([]), clock, destinations: [] });
  const written: CriticalEvent[] = [];
  const events = { logCriticalEvent: async (event: CriticalEvent) => void written.push(event) };
  const notice = new ForgottenNotice(clock, logger, events, 'here');
  const sessions = () => written.map(({ details }) => details?.sessions);
  notice.note('one');
  notice.note('two');
  expect(written).toEqual([]);
  await Promise.all([notice.noteLost('told'), notice.noteLost('told too')]);
  expect(sessions()).toEqual([['one', 'two', 'told', 'told too']]);
  notice.note('three');
  await clock.advance(5 * SECOND);
  expect(written).toHaveLength(1);
  await clock.advance(5 * SECOND);
  expect(sessions()).toEqual([['one', 'two', 'told', 'told too'], ['three']]);
  await notice.stop();
  expect(written).toHaveLength(2);
});

test('a disk that hangs does not delay the notification of a lost message for long', async () => {
  const clock = new ManualClock();
  const logger = createLogger({ level: 'debug', redact: createRedactor([]), clock, destinations: [] });
  const events = { logCriticalEvent: () => new Promise<void>(() => undefined) };
  const notice = new ForgottenNotice(clock, logger, events, 'here');
  const told: string[] = [];
  const tell = async (session: string) => {
    await notice.noteLost(session);
    told.push(session);
  };
  void tell('one');
  void tell('two');
  await clock.advance(5 * SECOND);
  expect(told).toEqual(['one', 'two']);
});
