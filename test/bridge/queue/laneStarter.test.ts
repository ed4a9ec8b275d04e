import { expect, test } from '@jest/globals';
import { type LaneStarter, LOST_JOB_PAUSE_MS } from '../../../bridge/queue/laneStarter.js';
import { WakeListener } from '../../../bridge/queue/wakeListener.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { laneOf } from '../../../src/jobs/names.js';
import { publishWake, type Wake, Wakes } from '../../../src/jobs/wakes.js';
import { closeRedis, openRedis } from '../../../src/redis/connect.js';
import { systemClock } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { describeWithRedis, forgetAll } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';
import { until } from '../../monitoring/watchdogScene.js';
import { draft, HOST, openScene, starterOf } from './queueScene.js';

describeWithRedis('the starter of lanes', () => {
  test('a job that Redis refused once is added again a moment later', async () => {
    const { store, openQueue, take } = await openScene();
    const queue = openQueue();
    const clock = new ManualClock();
    let refusals = 0;
    const refusing = {
      pump: () => queue.pump(),
      pumpLane: (lane: string) => queue.pumpLane(lane),
      waiting: queue.waiting,
      hasOthersIn: (session: AgentSession) => queue.hasOthersIn(session),
      regainWaiting: () => queue.regainWaiting(),
      async enqueueJob(session: AgentSession) {
        refusals += 1;
        if (refusals === 1) throw new Error('READONLY');
        await queue.enqueueJob(session);
      },
    };
    await starterOf(refusing, clock).acceptor(store, HOST)(draft('1'), []);
    await clock.untilWaiting();
    expect(await take()).toBeUndefined();
    await clock.advance(LOST_JOB_PAUSE_MS);
    await until(async () => (await take())?.data.session_id === draft('1').session_id);
  });

  test('starts what a lost job leaves waiting, a moment later', async () => {
    const { openQueue, take, accept } = await openScene();
    const session = await accept('1');
    const clock = new ManualClock();
    starterOf(openQueue(), clock).startAllSoon();
    expect(await take()).toBeUndefined();
    await clock.advance(LOST_JOB_PAUSE_MS);
    await until(async () => (await take())?.data.session_id === session);
  });
});

describeWithRedis('a bridge that hears wakes', () => {
  // rule: a-lane-goes-on
  test('what the own bridge starts wakes nobody; a wake for its lane adds a job', async () => {
    const scene = await openScene();
    const { store, openQueue, take, accept } = scene;
    const { heard } = await listen(scene, starterOf(openQueue()));
    const lane = laneOf(HOST, '/srv/popoto');
    const session = await accept('1', false);
    await publishWake(store, { session });
    await until(() => heard.length === 1);
    expect(heard).toEqual([{ session }]);
    expect(await take()).toBeUndefined();
    // By a try whose answer was lost it was accepted, and by the next one found accepted.
    const { isNew } = await starterOf(openQueue()).acceptor(store, HOST)(draft('1'), []);
    expect(isNew).toBe(false);
    await until(async () => (await take())?.data.session_id === session);
    expect(heard.slice(1)).toEqual([{ lane }]);
  });

  // rule: a-stray-job-or-lane-is-mended
  test('starts what waits, when wakes may have been missed', async () => {
    const scene = await openScene();
    const { store, openQueue, take, accept } = scene;
    const session = await accept('1', false);
    await listen(scene, starterOf(openQueue()));
    await publishWake(store, { everything: true });
    await until(async () => (await take())?.data.session_id === session);
  });

  // rule: a-forgotten-record-is-stored-once
  test('stores again what waits and starts it, when the store may have forgotten everything', async () => {
    const scene = await openScene();
    const { store, openQueue, take, accept } = scene;
    const queue = openQueue();
    const session = await accept('1');
    await queue.rememberAll();
    const forgotten: string[] = [];
    await listen(
      scene,
      starterOf(queue, systemClock, (id) => void forgotten.push(id)),
    );
    await forgetAll(store);
    await publishWake(store, { everything: true });
    await until(async () => (await take())?.data.session_id === session);
    expect(await store.records.session(session)).toMatchObject({ status: 'pending' });
    expect(forgotten).toEqual([session]);
  });

  // rule: a-forgotten-record-is-stored-once
  test('lets a message that is accepted before the loss was noticed wait behind those that the store forgot', async () => {
    const { store, openQueue, take, accept } = await openScene();
    const queue = openQueue();
    const [first, second] = [await accept('1'), await accept('2')];
    await queue.rememberAll();
    await forgetAll(store);
    const { session, isNext } = await starterOf(queue).acceptor(store, HOST)(draft('3'), []);
    expect(isNext).toBe(true);
    await until(async () => (await take())?.data.session_id === first);
    expect(await store.records.waitingIn(session.lane)).toEqual([first, second, session.session_id]);
  });

  // rule: a-cancellation-is-kept
  test('forgets what has its final message: it is not run again by a store that has forgotten everything', async () => {
    const scene = await openScene();
    const { store, openQueue, accept } = scene;
    const queue = openQueue();
    const [ended, waiting] = [await accept('1'), await accept('2')];
    await queue.rememberAll();
    const { delivered } = await listen(scene, starterOf(queue));
    await store.transitions.cancel(ended, 'cancelled');
    await publishWake(store, { outbox: ended });
    await until(() => delivered.includes(ended));
    await forgetAll(store);
    await publishWake(store, { everything: true });
    // In the order of their acceptance.
    await until(async () => (await store.records.session(waiting)) !== null);
    expect(await store.records.session(ended)).toBeNull();
  });
});

/** Acts on wakes like a bridge, and notes what it hears and what it delivers. */
async function listen({ url, store }: Awaited<ReturnType<typeof openScene>>, lanes: LaneStarter) {
  const subscriber = openRedis(url, { purpose: 'subscriber', clock: systemClock });
  const wakes = new Wakes(subscriber, store.keys);
  const delivered: string[] = [];
  const deliveries = {
    wake: (sessionId: string) => void delivered.push(sessionId),
    lookNow: () => undefined,
    lastLook: async () => undefined,
  };
  const listener = new WakeListener(wakes, deliveries, lanes);
  afterThisTest(async () => {
    await listener.stop();
    await wakes.stop();
    closeRedis(subscriber);
  });
  const heard: Wake[] = [];
  await wakes.start();
  await listener.start();
  wakes.listen((wake) => void heard.push(wake));
  return { heard, delivered };
}
