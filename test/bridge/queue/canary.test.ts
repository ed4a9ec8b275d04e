import { describe, expect, test } from '@jest/globals';
import { Canaries } from '../../../bridge/queue/canary.js';
import { createLogger } from '../../../src/log/logger.js';
import { MINUTE, SECOND } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { afterThisTest } from '../../harness/scope.js';

async function scene() {
  const clock = new ManualClock();
  const logger = createLogger({ level: 'silent', redact: (text) => text, clock, destinations: [] });
  const worker = { lastActiveAt: null as number | null, isFull: false };
  const redis = { takesJobs: true };
  const addCanary = async () => {
    if (!redis.takesJobs) throw new Error('OOM');
  };
  const canaries = new Canaries({ queue: { addCanary }, worker, clock, logger, stallMs: MINUTE });
  await canaries.start();
  afterThisTest(() => canaries.stop());
  /** Passes time as it passes, not at once: what the worker does in it is seen. */
  const pass = async (lastsMs: number, meanwhile: () => void = () => undefined) => {
    for (let at = 0; at < lastsMs; at += 30 * SECOND) {
      await clock.untilWaiting();
      meanwhile();
      await clock.advance(30 * SECOND);
    }
  };
  return { clock, worker, redis, canaries, pass };
}

describe('a worker that takes no canary', () => {
  test('for five minutes while Redis accepts jobs is given up', async () => {
    const { canaries, pass } = await scene();
    await pass(4 * MINUTE);
    expect(canaries.lost.aborted).toBe(false);
    await pass(2 * MINUTE);
    expect(canaries.lost.reason).toMatchObject({ code: 'unreachable', message: expect.stringContaining('for 5 min') });
  });

  test.each([
    [
      'but took one in between',
      ({ worker, clock }: Scene) => void Object.assign(worker, { lastActiveAt: clock.now() }),
    ],
    ['because every place is taken', ({ worker }: Scene) => void Object.assign(worker, { isFull: true })],
    ['because Redis takes none', ({ redis }: Scene) => void Object.assign(redis, { takesJobs: false })],
  ])('%s is kept', async (_, cause) => {
    const opened = await scene();
    await opened.pass(4 * MINUTE);
    await opened.pass(30 * SECOND, () => cause(opened));
    opened.redis.takesJobs = true;
    opened.worker.isFull = false;
    await opened.pass(4 * MINUTE);
    expect(opened.canaries.lost.aborted).toBe(false);
  });

  // rule: a-stuck-worker-ends-its-bridge
  test('because its process was stopped is kept', async () => {
    const { clock, canaries, pass } = await scene();
    await pass(MINUTE);
    await clock.stall(10 * MINUTE);
    await pass(MINUTE);
    expect(canaries.lost.aborted).toBe(false);
  });
});

type Scene = Awaited<ReturnType<typeof scene>>;
