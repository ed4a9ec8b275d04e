import { expect, test } from '@jest/globals';
import { MemoryMark } from '../../src/store/memoryMark.js';
import { openStore } from '../../src/store/store.js';
import { ManualClock } from '../harness/clock.js';
import { describeWithRedis, forgetAll, openTestRedis } from '../harness/redis.js';
import {
  acceptMessage,
  activeSession,
  LANE,
  LEASE_MS,
  must,
  openSagaScene,
  startRun,
} from '../monitoring/sagaScene.js';

describeWithRedis('a session that the store has forgotten', () => {
  test('stored again by two at once is stored once, and its lane is one run’s', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const run = must(session.run);
    await forgetAll(scene.store);
    const { regain, records } = scene.store;
    const other = { ...run, run_id: 'another' };
    const won = await Promise.all([
      regain.active(session, run, LEASE_MS),
      regain.active(session, other, LEASE_MS),
      regain.waiting(session),
    ]);
    expect(won.filter(Boolean)).toHaveLength(1);
    const found = must(await records.session(session.session_id));
    const { holder, waiting } = await records.lane(LANE);
    expect(holder).toBe(found.run?.run_id ?? null);
    expect(waiting).toBe(found.status === 'pending' ? 1 : 0);
  });

  test('is not stored again into a lane that another run holds, nor over a record that was set aside', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const run = must(session.run);
    const { regain, redis, keys, records } = scene.store;
    await forgetAll(scene.store);
    await startRun(scene, await acceptMessage(scene, '2'));
    expect(await regain.active(session, run, LEASE_MS)).toBe(false);
    await forgetAll(scene.store);
    await redis.hset(keys.quarantine('session', session.session_id), 'status', 'unreadable');
    expect(await regain.isMissing(session.session_id)).toBe(false);
    expect(await regain.active(session, run, LEASE_MS)).toBe(false);
    expect(await records.session(session.session_id)).toBeNull();
  });

  test('that is a second attempt uses its message’s one revival up', async () => {
    const scene = await openSagaScene();
    const first = await activeSession(scene);
    const revival = {
      ...first,
      session_id: `${first.session_id}_r1`,
      attempt: 2,
      revival_of: first.session_id,
    } as const;
    await forgetAll(scene.store);
    expect(await scene.store.regain.active(revival, must(first.run), LEASE_MS)).toBe(true);
    expect(await scene.store.records.claimOf(revival)).not.toBeNull();
  });
});

describeWithRedis('the mark by which a process sees that the store has forgotten something', () => {
  test('tells a store that lost everything or its last moment from one whose answer was lost', async () => {
    const { redis, prefix } = await openTestRedis();
    const store = openStore(redis, new ManualClock(), prefix);
    const mark = new MemoryMark(redis, store.keys);
    expect([await mark.renew(), await mark.renew()]).toEqual(['nothing', 'nothing']);
    const [key = ''] = await redis.keys(store.keys.memoryMark('*'));
    const older = must(await redis.get(key));
    await mark.renew();
    await redis.set(key, older);
    expect(await mark.renew()).toBe('last');
    expect(await mark.renew()).toBe('nothing');
    await forgetAll(store);
    expect([await mark.renew(), await mark.renew()]).toEqual(['all', 'nothing']);
    // Written, and only the answer lost.
    const set = redis.set.bind(redis);
    const losing = async (...args: unknown[]) => {
      await Reflect.apply(set, redis, args);
      throw new Error('Connection is closed.');
    };
    redis.set = losing as typeof redis.set;
    await expect(mark.renew()).rejects.toThrow('Connection is closed.');
    redis.set = set;
    expect(await mark.renew()).toBe('nothing');
  });
});
