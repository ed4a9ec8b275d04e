import { expect, test } from '@jest/globals';
import { Queue } from 'bullmq';
import { LaneStarter, LOST_JOB_PAUSE_MS } from '../../../bridge/queue/laneStarter.js';
import { JobQueue, queueName } from '../../../bridge/queue/pump.js';
import { SessionWorker } from '../../../bridge/queue/worker.js';
import { createLogger } from '../../../src/log/logger.js';
import { closeRedis, openRedis } from '../../../src/redis/connect.js';
import { systemClock } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { describeWithRedis, testRedisUrl } from '../../harness/redis.js';
import { RedisGate } from '../../harness/redisGate.js';
import { afterThisTest } from '../../harness/scope.js';
import {
  acceptMessage,
  HOST,
  LANE,
  must,
  openSagaScene,
  runIdOf,
  type SagaScene,
  startRun,
} from '../../monitoring/incident/saga/sagaScene.js';
import { until } from '../../monitoring/watchdogScene.js';

async function jobsOf({ store }: SagaScene): Promise<string[]> {
  const queue = new Queue(queueName(HOST), { connection: store.redis, prefix: store.keys.bullPrefix });
  const jobs = await queue.getJobs();
  await queue.close();
  return jobs.map((job) => String((job.data as { session_id: string }).session_id));
}

interface WorkerWith {
  readonly url?: string;
  readonly stop?: () => Promise<void>;
  readonly lanes?: { startAllSoon(): void };
}

/** A worker whose runs are only noted, and answered at once unless told otherwise. */
async function openWorker(
  scene: SagaScene,
  execute: (sessionId: string, hasRoom: () => boolean) => Promise<void>,
  {
    url = must(testRedisUrl()),
    stop = async () => undefined,
    lanes = { startAllSoon: () => undefined },
  }: WorkerWith = {},
) {
  const connection = openRedis(url, { purpose: 'blocking', clock: systemClock });
  afterThisTest(() => closeRedis(connection));
  const logger = createLogger({ level: 'silent', redact: (text) => text, clock: systemClock, destinations: [] });
  const calls: string[] = [];
  const worker = new SessionWorker({
    host: HOST,
    bullPrefix: scene.store.keys.bullPrefix,
    connection,
    concurrency: 4,
    logger,
    clock: systemClock,
    lanes,
    runner: {
      start: async () => void calls.push('start'),
      stop: async () => {
        calls.push('stop');
        await stop();
      },
      execute,
    },
  });
  return { worker, calls, connection };
}

describeWithRedis('the pump', () => {
  test('makes one job for the head of a free lane, however often it is asked', async () => {
    const scene = await openSagaScene();
    await acceptMessage(scene, '1');
    await acceptMessage(scene, '2');
    await Promise.all([scene.queue.pump(), scene.queue.pump(), scene.queue.pumpLane(LANE)]);
    await scene.queue.pump();
    expect(await jobsOf(scene)).toEqual(['tg_popoto_-100_1']);
  });

  test('makes no job while a run holds the lane, and one for the next as soon as it is free', async () => {
    const scene = await openSagaScene();
    const first = await startRun(scene, await acceptMessage(scene, '1'));
    await acceptMessage(scene, '2');
    expect(await scene.queue.pump()).toBe(0);
    await scene.store.transitions.complete(first.session_id, runIdOf(first), 'done');
    expect(await scene.queue.pump()).toBe(1);
    expect(await jobsOf(scene)).toEqual(['tg_popoto_-100_2']);
  });

  // rule: a-stray-job-or-lane-is-mended
  test('replaces a job that was lost', async () => {
    const scene = await openSagaScene();
    await acceptMessage(scene, '1');
    await scene.queue.pump();
    const queue = new Queue(queueName(HOST), { connection: scene.store.redis, prefix: scene.store.keys.bullPrefix });
    await queue.obliterate({ force: true });
    await queue.close();
    await scene.queue.pump();
    expect(await jobsOf(scene)).toEqual(['tg_popoto_-100_1']);
  });

  test('drops a head that no longer waits, and one that is gone', async () => {
    const scene = await openSagaScene();
    const { redis, keys } = scene.store;
    const ended = await acceptMessage(scene, '1');
    await scene.store.transitions.cancel(ended.session_id, 'x');
    await redis.lpush(keys.lane(LANE), ended.session_id, 'never_seen');
    await acceptMessage(scene, '2');
    for (let looks = 0; looks < 3; looks += 1) await scene.queue.pump();
    expect(await scene.store.records.waitingIn(LANE)).toEqual(['tg_popoto_-100_2']);
    expect(await jobsOf(scene)).toEqual(['tg_popoto_-100_2']);
  });

  // rule: a-stray-job-or-lane-is-mended
  test('forgets an empty lane, and loses no message that arrives at the same instant', async () => {
    const scene = await openSagaScene();
    const first = await startRun(scene, await acceptMessage(scene, '1'));
    await scene.store.transitions.complete(first.session_id, runIdOf(first), 'done');
    expect((await scene.store.records.lanes(HOST)).map(({ lane }) => lane)).toEqual([LANE]);
    await Promise.all([
      scene.store.lanes.forgetEmpty(LANE),
      acceptMessage(scene, '2'),
      scene.store.lanes.forgetEmpty(LANE),
    ]);
    expect((await scene.store.records.lanes(HOST)).map(({ lane }) => lane)).toEqual([LANE]);
    const second = await startRun(scene, must(await scene.store.records.session('tg_popoto_-100_2')));
    await scene.store.transitions.complete(second.session_id, runIdOf(second), 'done');
    await scene.queue.pump();
    expect(await scene.store.records.lanes(HOST)).toEqual([]);
  });

  test('leaves the lane of another host to that host', async () => {
    const scene = await openSagaScene();
    const other = new JobQueue({ ...scene, host: 'host-z', connection: scene.store.redis });
    afterThisTest(() => other.close());
    await acceptMessage(scene, '1');
    expect(await other.pumpLane(LANE)).toBe(0);
  });
});

describeWithRedis('a worker', () => {
  test('gets a session once, although its job was created twice', async () => {
    const scene = await openSagaScene();
    const executed: string[] = [];
    const { worker, calls } = await openWorker(scene, async (sessionId) => void executed.push(sessionId));
    await worker.start();
    await worker.start();
    await acceptMessage(scene, '1');
    await scene.queue.pump();
    await until(() => executed.length > 0);
    await worker.stop();
    await worker.stop();
    expect(new Set(executed)).toEqual(new Set(['tg_popoto_-100_1']));
    expect(calls.filter((call) => call === 'start')).toHaveLength(1);
  });

  // rule: a-lane-goes-on
  test('continues a lane in the same job as long as no other job can be waiting for its place', async () => {
    const scene = await openSagaScene();
    const places: (() => boolean)[] = [];
    let end: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const run = (_: string, hasRoom: () => boolean) => {
      places.push(hasRoom);
      return over;
    };
    const { worker } = await openWorker(scene, run, { stop: async () => end() });
    await worker.start();
    const session = await acceptMessage(scene, '1');
    for (const number of [1, 2, 3, 4]) {
      await scene.queue.enqueueJob({ ...session, session_id: `session-${number}`, lane: `${LANE}-${number}` });
      await until(() => places.length === number);
      expect(must(places[0])()).toBe(number < 4);
    }
    await worker.stop();
  });

  // rule: a-stray-job-or-lane-is-mended
  test('has a job that failed outside its run replaced a moment later', async () => {
    const scene = await openSagaScene();
    const { queue, logger } = scene;
    const clock = new ManualClock();
    const lanes = new LaneStarter({ queue, clock, logger, forgotten: { note: () => undefined } });
    let executed = 0;
    const failFirst = async () => {
      executed += 1;
      if (executed === 1) throw new Error('the store did not answer');
    };
    const { worker } = await openWorker(scene, failFirst, { lanes });
    await worker.start();
    await acceptMessage(scene, '1');
    await queue.pump();
    await clock.untilWaiting();
    await clock.advance(LOST_JOB_PAUSE_MS);
    await until(() => executed > 1);
    await worker.stop();
  });

  test('lets its runs be ended before it stops', async () => {
    const scene = await openSagaScene();
    let end: () => void = () => undefined;
    let isRunning = false;
    const run = () => {
      isRunning = true;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    };
    const { worker, calls } = await openWorker(scene, run, { stop: async () => end() });
    await worker.start();
    await acceptMessage(scene, '1');
    await scene.queue.pump();
    await until(() => isRunning);
    await worker.stop();
    expect(calls).toEqual(['start', 'stop']);
  });

  test('stops within seconds although Redis is unreachable and a job is active', async () => {
    const scene = await openSagaScene();
    const gate = await RedisGate.before(must(testRedisUrl()));
    let end: () => void = () => undefined;
    let isRunning = false;
    const run = () => {
      isRunning = true;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    };
    const { worker, connection } = await openWorker(scene, run, { url: gate.url });
    await worker.start();
    await acceptMessage(scene, '1');
    await scene.queue.pump();
    await until(() => isRunning);
    gate.shut();
    end();
    await worker.stop();
    closeRedis(connection);
  }, 20_000);
});
