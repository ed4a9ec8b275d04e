import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { Worker } from 'bullmq';
import { type JobData, JobQueue, queueName } from '../../bridge/queue/pump.js';
import { closeRedis, openRedis } from '../../src/store/connect.js';
import { conversationKey, laneOf } from '../../src/store/names.js';
import { openStore } from '../../src/store/store.js';
import { publishWake, Wakes } from '../../src/store/wakes.js';
import { systemClock } from '../../src/time.js';
import { describeWithRedis, openTestRedis } from '../harness/redis.js';
import { afterThisTest } from '../harness/scope.js';

const HOST = 'host-a';

describeWithRedis('the pump', () => {
  test('a job that a dead bridge had taken does not keep the next bridge from running the session', async () => {
    const { store, openQueue, take, accept } = await openScene();
    const session = await accept('1');
    await openQueue().pump();
    expect((await take())?.data).toEqual({ session_id: session });
    await openQueue().pump();
    expect((await take())?.data).toEqual({ session_id: session });
    expect(await store.records.sessionIds('pending')).toEqual([session]);
  });

  test('a head whose record cannot be read is taken out of its lane, and the next one gets the job', async () => {
    const { store, openQueue, take, accept } = await openScene();
    const [torn, next] = [await accept('1'), await accept('2')];
    await store.redis.hset(store.keys.session(torn), 'run', '{"run_id":"r"}');
    const queue = openQueue();
    await queue.pump();
    expect(await take()).toBeUndefined();
    await queue.pump();
    expect((await take())?.data).toEqual({ session_id: next });
  });

  test('one process makes one job of one pending session, and another one after its connection broke', async () => {
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

  test('a listener is told when wakes may have been missed, and hears the next ones', async () => {
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

async function openScene() {
  const { url, redis, prefix } = await openTestRedis();
  const store = openStore(redis, systemClock, prefix);
  const connection = openRedis(url, { purpose: 'commands', clock: systemClock });
  const blocking = openRedis(url, { purpose: 'blocking', clock: systemClock });
  const queues: JobQueue[] = [];
  const options = { connection: blocking, prefix: store.keys.bullPrefix, autorun: false };
  const worker = new Worker<JobData>(queueName(HOST), null, options);
  afterThisTest(async () => {
    await worker.close();
    for (const queue of queues) await queue.close();
    closeRedis(connection);
    closeRedis(blocking);
  });
  await connection.connect();
  return {
    url,
    store,
    connection,
    openQueue() {
      const queue = new JobQueue(store, HOST, connection, systemClock, () => undefined);
      queues.push(queue);
      return queue;
    },
    /** Takes a job as a worker does that is killed in the next instant. */
    take: () => worker.getNextJob('token', { block: false }),
    async accept(messageId: string): Promise<string> {
      const { session } = await store.transitions.accept({
        session_id: `tg_popoto_1_${messageId}`,
        project_key: 'popoto',
        chat_id: '1',
        message_id: messageId,
        thread_id: null,
        sender: { id: '7', name: 'Ann' },
        message_text: `ask ${messageId}`,
        conversation_key: conversationKey('popoto', '1', null, 0),
        lane: laneOf(HOST, '/srv/popoto'),
        working_directory: '/srv/popoto',
        agent: 'scripted',
      });
      return session.session_id;
    },
  };
}
