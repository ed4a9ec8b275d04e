/** A Redis, or a queue in it, from which nothing comes: standing still, behind a line that has gone dead, handing out no jobs. */
import { expect, test } from '@jest/globals';
import { Queue } from 'bullmq';
import { queueName } from '../../bridge/queue/pump.js';
import { closeRedis, openRedis } from '../../src/redis/connect.js';
import { systemClock } from '../../src/time.js';
import { RedisGate } from '../harness/redisGate.js';
import { afterThisTest } from '../harness/scope.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import { BOAT, expectOneAnswerEach, expectOutageToldOnce, said, WAITS } from './redisTrouble.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

describeScenes('a Redis that does not answer', () => {
  // rule: a-redis-outage-ends-no-run
  test(
    'because it was stopped, or the connection has gone dead: logged as unreachable and used again, or new connections are made; no run ends',
    async () => {
      const scene = await openTestScene({ projects: { boat: BOAT }, timings: { runLeaseMs: 60_000 } });
      const line = await RedisGate.before(scene.redis.url);
      const bridge = await scene.startBridge({ REDIS_URL: line.url });
      const running = new Conversation(scene, 'boat', 1, 'the first');
      await running.start();
      scene.redis.pause();
      const meanwhile = new Conversation(scene, 'boat', 2, 'the second');
      await meanwhile.answered(WAITS, 30_000);
      await scene.until('the word that it is away', () => said(bridge, 'is away (').length > 0, 30_000);
      scene.redis.resume();
      await expectOneAnswerEach([running, meanwhile]);
      await expectOutageToldOnce(scene, bridge);
      expect(scene.evidence.faults()).toEqual([]);

      const before = said(bridge, 'is away (Socket timeout.').length;
      const third = new Conversation(scene, 'boat', 1, 'the third');
      await third.start();
      line.forgetConnections();
      const fourth = new Conversation(scene, 'boat', 2, 'the fourth');
      for (const asked of [third, fourth]) await asked.answered('worked through', 40_000);
      await expectOneAnswerEach([third, fourth]);
      expect(said(bridge, 'is away (Socket timeout.').length).toBeGreaterThan(before);
      expect(scene.evidence.faults()).toEqual([]);
      expect(await bridge.stop()).toMatchObject({ code: 0 });
    },
    2 * SCENE_TIMEOUT_MS,
  );
});

describeScenes('a queue that hands out no jobs', () => {
  // rule: a-stuck-worker-ends-its-bridge
  test(
    'although it accepts them: the bridge ends with exit code 3, and the next one runs the waiting messages',
    async () => {
      const environment = { WATCHKEEPER_HOST: 'quay' };
      const scene = await openTestScene({ projects: { boat: BOAT }, timings: { stallMs: 5_000 }, environment });
      const bridge = await scene.startBridge();
      const queue = await queueOf(scene, 'quay');
      await queue.pause();
      const asked = new Conversation(scene, 'boat', 1, 'the first');
      expect((await bridge.exited).code).toBe(3);
      expect(said(bridge, 'the worker of this bridge has received none for 25 s; the bridge exits')).not.toEqual([]);
      expect(asked.starts()).toEqual([]);
      await queue.resume();
      await scene.startBridge();
      await expectOneAnswerEach([asked]);
    },
    SCENE_TIMEOUT_MS,
  );
});

/** The one that the bridge of this host takes its jobs from. */
async function queueOf(scene: BridgeScene, host: string): Promise<Queue> {
  const connection = openRedis(scene.redis.url, { purpose: 'commands', clock: systemClock });
  afterThisTest(() => closeRedis(connection));
  return new Queue(queueName(host), { connection, prefix: scene.store.keys.bullPrefix });
}
