/** A Redis that is there and refuses its work: full, read-only, asking for a password. */
import { expect, test } from '@jest/globals';
import { pathWith } from '../harness/searchPath.js';
import { Conversation } from './conversation.js';
import { BOAT, expectOneAnswerEach, expectOutageToldOnce, said, WAITS } from './redisTrouble.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

describeScenes('a full Redis', () => {
  // rule: a-full-redis-finishes-its-work
  test(
    'accepts no message; accepted work continues to its end, watched, and the rest follows when there is space',
    async () => {
      const scene = await openTestScene({ projects: { boat: BOAT } });
      const bridge = await scene.startBridge();
      const running = new Conversation(scene, 'boat', 1, 'the first');
      const falling = new Conversation(scene, 'boat', 2, 'fall over');
      for (const asked of [running, falling]) await asked.start();
      await scene.redis.ask('CONFIG', 'SET', 'maxmemory', '1');
      const meanwhile = new Conversation(scene, 'boat', 3, 'the second');
      await meanwhile.answered(WAITS);
      // Longer than the run's lease, which has to be renewed meanwhile.
      await running.answered('worked through');
      await falling.event(({ rule }) => rule === 'crash');
      expect(scene.telegram.unconfirmedUpdates).toBeGreaterThan(0);
      const doctor = await scene.run(['doctor'], { PATH: pathWith('git', 'sh') });
      expect(doctor.exit?.code).not.toBe(0);
      expect(doctor.stdout).toContain('it is full and refuses every message');
      expect(falling.starts(falling.revival)).toEqual([]);

      await scene.redis.ask('CONFIG', 'SET', 'maxmemory', '0');
      for (const asked of [meanwhile, falling]) await asked.answered('worked through');
      expect(meanwhile.starts()).toHaveLength(1);
      expect(running.starts()).toHaveLength(1);
      expect(falling.starts(falling.revival)).toHaveLength(1);
      await scene.until('the word that it is well', () => said(bridge, 'Redis does its work again after').length === 1);
      expect(said(bridge, 'Redis refuses its work (OOM ')).toHaveLength(1);
      expect(bridge.stderr).not.toContain('"type":"ReplyError"');
      const rules = scene.evidence.criticalEvents().map(({ rule }) => rule);
      expect(new Set(rules)).toEqual(new Set(['crash']));
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a Redis that became a replica', () => {
  // rule: a-redis-outage-ends-no-run
  test(
    'ends no run: an end is kept, and stored when it accepts writes again',
    async () => {
      const scene = await openTestScene({ projects: { boat: BOAT }, timings: { runLeaseMs: 30_000 } });
      const bridge = await scene.startBridge();
      const running = new Conversation(scene, 'boat', 1, 'the first');
      await running.start();
      await scene.redis.ask('REPLICAOF', '127.0.0.1', '1');
      const meanwhile = new Conversation(scene, 'boat', 2, 'the second');
      await meanwhile.answered(WAITS);
      await scene.until('the end of the agent', () =>
        scene.evidence.agents().some(({ event, session }) => event === 'stop' && session === running.session),
      );
      expect(running.repliesWith('worked through')).toEqual([]);
      await scene.redis.ask('REPLICAOF', 'NO', 'ONE');
      await expectOneAnswerEach([running, meanwhile]);
      expect(said(bridge, 'Redis refuses its work (READONLY ')).toHaveLength(1);
      expect(scene.evidence.faults()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a Redis that rejects the login', () => {
  // rule: a-redis-outage-ends-no-run
  test(
    'while a bridge runs is logged with its words, waited for, and used again, without a secret in the log',
    async () => {
      const scene = await openTestScene({ projects: { boat: BOAT }, timings: { runLeaseMs: 30_000 } });
      const bridge = await scene.startBridge();
      const running = new Conversation(scene, 'boat', 1, 'the first');
      await running.start();
      await scene.redis.ask('CONFIG', 'SET', 'requirepass', 'hush-hush');
      scene.redis.password = 'hush-hush';
      await scene.redis.ask('CLIENT', 'KILL', 'TYPE', 'normal');
      await scene.redis.ask('CLIENT', 'KILL', 'TYPE', 'pubsub');
      const meanwhile = new Conversation(scene, 'boat', 2, 'the second');
      await meanwhile.answered(WAITS);
      // Redis closed the connection, was perhaps being written to, or has refused the next one by then.
      await scene.until('the outage', () => /is away \((?:NOAUTH|it closed|write EPIPE)/.test(bridge.stderr));
      await bridge.says('NOAUTH');
      await scene.redis.ask('CONFIG', 'SET', 'requirepass', '');
      scene.redis.password = null;
      await expectOneAnswerEach([running, meanwhile]);
      await expectOutageToldOnce(scene, bridge);
      expect(bridge.stderr).not.toContain('hush-hush');
      expect(scene.evidence.faults()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );
});
