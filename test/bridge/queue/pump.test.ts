import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { queueName } from '../../../bridge/queue/pump.js';
import { laneOf } from '../../../src/jobs/names.js';
import { revivalOf } from '../../../src/jobs/newRecords.js';
import { publishWake, Wakes } from '../../../src/jobs/wakes.js';
import { closeRedis, openRedis } from '../../../src/redis/connect.js';
import { HOUR, systemClock } from '../../../src/time.js';
import { describeWithRedis, forgetAll } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';
import { must } from '../../monitoring/incident/saga/sagaScene.js';
import { until } from '../../monitoring/watchdogScene.js';
import { draft, HOST, openScene, starterOf } from './queueScene.js';

describeWithRedis('the pump', () => {
  test('runs the session of a job that a dead bridge had taken', async () => {
    const { store, openQueue, take, accept } = await openScene();
    const session = await accept('1');
    await openQueue().pump();
    expect((await take())?.data).toEqual({ session_id: session });
    await openQueue().pump();
    expect((await take())?.data).toEqual({ session_id: session });
    expect(await store.records.sessionIds('pending')).toEqual([session]);
  });

  test('adds a job at once for what was put back, although its former job is still active', async () => {
    const { store, openQueue, take, accept } = await openScene();
    const session = await accept('1');
    const queue = openQueue();
    await queue.pump();
    await take();
    const owner = { host: HOST, boot_id: 'boot', pid_namespace: '1', pid: 1, pid_start: '1' };
    const run = { run_id: 'run', owner, pid: null, started_at: systemClock.now() };
    await store.transitions.start(must(await store.records.session(session)), run, HOUR);
    const proof = { run_id: 'run', proven_at: systemClock.now(), by: 'scan' } as const;
    must(await store.transitions.interrupt(session, 'run', proof));
    await queue.pump();
    expect((await take())?.data).toEqual({ session_id: session });
  });

  // rule: an-unreadable-record-is-set-aside
  test('keeps a head with an unreadable record in its place: nobody overtakes it before it is set aside', async () => {
    const { store, openQueue, take, accept } = await openScene();
    const [torn, next] = [await accept('1'), await accept('2')];
    await store.redis.hset(store.keys.session(torn), 'run', '{"run_id":"r"}');
    const queue = openQueue();
    await queue.pump();
    await queue.pump();
    expect(await take()).toBeUndefined();
    expect(await store.records.waitingIn(must(await store.redis.hget(store.keys.session(next), 'lane')))).toEqual([
      torn,
      next,
    ]);
  });

  test('makes one job per pending session and process, and another one after its connection broke', async () => {
    const { openQueue, connection, take, accept } = await openScene();
    const session = await accept('1');
    const queue = openQueue();
    await queue.pump();
    await queue.pump();
    expect((await take())?.data).toEqual({ session_id: session });
    expect(await take()).toBeUndefined();
    connection.disconnect(true);
    await once(connection, 'ready');
    await queue.pump();
    expect((await take())?.data).toEqual({ session_id: session });
  });

  // rule: a-lane-goes-on
  test('adds a job at once for a message that can start, and none for one that waits behind it or has another host', async () => {
    const { store, openQueue, take } = await openScene();
    const queue = openQueue();
    const accept = starterOf(queue).acceptor(store, HOST);
    for (const message of [draft('1'), draft('2'), draft('3', laneOf('host-b', '/srv/popoto'))])
      await accept(message, []);
    await until(async () => (await store.redis.exists(`${store.keys.bullPrefix}:${queueName(HOST)}:wait`)) === 1);
    expect((await take())?.data).toEqual({ session_id: draft('1').session_id });
    expect(queue.waiting.take(draft('1').session_id)).toMatchObject({
      status: 'pending',
      request: { message_text: 'ask 1' },
    });
    expect(queue.waiting.take(draft('1').session_id)).toBeNull();
    expect(queue.waiting.take(draft('2').session_id)).toMatchObject({
      status: 'pending',
      request: { message_text: 'ask 2' },
    });
    expect(queue.waiting.take(draft('3').session_id)).toBeNull();
    expect(await take()).toBeUndefined();
  });

  // rule: a-lane-goes-on
  test('reads the record of a known head only if it is not remembered', async () => {
    const { store, openQueue, take, accept } = await openScene();
    const lane = laneOf(HOST, '/srv/popoto');
    const session = must(await store.records.session(await accept('1')));
    const queue = openQueue();
    // What is remembered says when; the record does not.
    queue.waiting.keep({ ...session, not_before: systemClock.now() + HOUR });
    expect(await queue.pumpLane(lane, session.session_id)).toBe(1);
    expect(await take()).toBeUndefined();
    expect(queue.waiting.take(session.session_id)).not.toBeNull();
    const other = openQueue();
    // It has been moved since.
    other.waiting.keep({ ...session, not_before: systemClock.now() + HOUR, lane: laneOf(HOST, '/srv/other') });
    expect(await other.pumpLane(lane, session.session_id)).toBe(1);
    expect((await take())?.data).toEqual({ session_id: session.session_id });
  });

  test('remembers at most a thousand waiting messages', async () => {
    const { store, openQueue } = await openScene();
    const queue = openQueue();
    const { session } = await store.transitions.accept(draft('1'));
    for (let number = 1; number <= 1_001; number += 1) queue.waiting.keep({ ...session, session_id: `s${number}` });
    expect(queue.waiting.take('s1')).toBeNull();
    expect(queue.waiting.take('s2')).not.toBeNull();
    expect(queue.waiting.take('s1001')).not.toBeNull();
    queue.waiting.keep({ ...session, request: { ...session.request, message_text: 'x'.repeat(4_097) } });
    expect(queue.waiting.take(session.session_id)).toBeNull();
  });

  // rule: a-forgotten-record-is-stored-once
  test('stores waiting messages again, in order, if the store forgot them and this process knows them', async () => {
    const { store, openQueue, accept } = await openScene();
    const sessions = [await accept('1'), await accept('2'), await accept('3'), await accept('4')];
    const queue = openQueue();
    await queue.rememberAll();
    await queue.pump();
    queue.waiting.delete(sessions[2] ?? '');
    expect(await queue.regainWaiting()).toEqual([]);
    await forgetAll(store);
    const left = sessions.filter((_, index) => index !== 2);
    expect(await queue.regainWaiting()).toEqual(left);
    expect(await queue.regainWaiting()).toEqual([]);
    expect(await store.records.waitingIn(laneOf(HOST, '/srv/popoto'))).toEqual(left);
    expect(await queue.pump()).toBe(1);
  });

  test('stores messages that were accepted in the same millisecond again in their order', async () => {
    const { store, openQueue, accept } = await openScene();
    const ids = [await accept('9'), await accept('10')];
    const known = await Promise.all(ids.map((id) => store.records.session(id)));
    const queue = openQueue();
    for (const session of known.toReversed()) queue.waiting.keep({ ...must(session), created_at: 1 });
    await forgetAll(store);
    expect(await queue.regainWaiting()).toEqual(ids);
  });

  // rule: a-forgotten-record-is-stored-once
  test('does not store a message again that has begun, though a late wake remembers how it waited', async () => {
    const { store, openQueue, accept } = await openScene();
    const waited = must(await store.records.session(await accept('1')));
    const queue = openQueue();
    queue.waiting.keep(waited);
    queue.waiting.began(waited);
    queue.waiting.keep(waited);
    await forgetAll(store);
    expect(await queue.regainWaiting()).toEqual([]);
    // It was put back since, which is another state of it.
    queue.waiting.keep({ ...waited, rev: waited.rev + 2 });
    expect(await queue.regainWaiting()).toEqual([waited.session_id]);
  });

  // rule: a-forgotten-record-is-stored-once
  test('does not store a message again whose second attempt is there', async () => {
    const { store, openQueue, accept } = await openScene();
    const first = must(await store.records.session(await accept('1')));
    const second = revivalOf(first, systemClock.now() + HOUR);
    const queue = openQueue();
    queue.waiting.keep(first);
    await forgetAll(store);
    expect(await store.regain.waiting(second)).toBe(true);
    expect(await queue.regainWaiting()).toEqual([]);
    expect(await store.records.session(first.session_id)).toBeNull();
  });

  // rule: a-forgotten-record-is-stored-once
  test.each(['a second attempt', 'an interrupted session'])(
    'stores %s again before the messages that wait behind it, so that none of them starts first',
    async (which) => {
      const { store, openQueue, accept } = await openScene();
      const [first, next] = [await accept('1'), await accept('2')];
      const known = must(await store.records.session(first));
      const head =
        which === 'a second attempt' ? revivalOf(known, systemClock.now() + HOUR) : { ...known, interruptions: 1 };
      const queue = openQueue();
      queue.waiting.keep(must(await store.records.session(next)));
      queue.waiting.keep(head);
      await forgetAll(store);
      const order = [head.session_id, next];
      expect(await queue.regainWaiting()).toEqual(order);
      expect(await store.records.waitingIn(known.lane)).toEqual(order);
      // The same if another process stores them one by one.
      await forgetAll(store);
      for (const session of [must(queue.waiting.get(next)), head]) await store.regain.waiting(session);
      expect(await store.records.waitingIn(known.lane)).toEqual(order);
    },
  );

  // rule: a-cancellation-is-kept
  test('forgets a message that ended without a wake, and does not run it again after its record has expired', async () => {
    const { store, openQueue, accept } = await openScene();
    const [ended, waiting] = [await accept('1'), await accept('2')];
    const queue = openQueue();
    await queue.rememberAll();
    await store.transitions.cancel(ended, 'cancelled');
    expect(await queue.regainWaiting()).toEqual([]);
    expect([ended, waiting].filter((session) => queue.waiting.has(session))).toEqual([waiting]);
    await forgetAll(store);
    expect(await queue.regainWaiting()).toEqual([waiting]);
    expect(await store.records.session(ended)).toBeNull();
  });

  test('notifies a listener if wakes may have been missed, and delivers the next ones', async () => {
    const { url, store } = await openScene();
    const subscriber = openRedis(url, { purpose: 'subscriber', clock: systemClock });
    const wakes = new Wakes(subscriber, store.keys);
    afterThisTest(async () => {
      await wakes.stop();
      closeRedis(subscriber);
    });
    await wakes.start();
    const heard: object[] = [];
    const next = () =>
      new Promise<object>((resolve) => {
        const unlisten = wakes.listen((wake) => {
          unlisten();
          resolve(wake);
        });
      });
    for (const provoke of [
      async () => subscriber.disconnect(true),
      async () => {
        // What others publish there must not end the process.
        await store.redis.publish(store.keys.wakeChannel, 'no wake at all');
        await publishWake(store, { session: 'tg_a' });
      },
    ]) {
      const told = next();
      await provoke();
      heard.push(await told);
    }
    expect(heard).toEqual([{ everything: true }, { session: 'tg_a' }]);
  });
});
