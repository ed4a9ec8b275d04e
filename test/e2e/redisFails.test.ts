/** A Redis that is there and does not do its work: full, read-only, standing still, behind a line that has gone dead. */
import { expect, test } from '@jest/globals';
import { Queue } from 'bullmq';
import { queueName } from '../../bridge/queue/pump.js';
import { closeRedis, openRedis } from '../../src/store/connect.js';
import { systemClock } from '../../src/time.js';
import { RedisGate } from '../harness/redisGate.js';
import { afterThisTest } from '../harness/scope.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import type { Program } from './program.js';
import type { Scenario, SceneProject } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const WORK: Scenario['steps'] = [
  { do: 'repeat', times: 12, steps: [{ do: 'call', tool: 'bash', input: { step: '{{index}}' }, takes_ms: 250 }] },
  { do: 'answer', text: 'worked through' },
];
const BOAT: SceneProject = {
  chats: [
    { id: 1, directory: 'one' },
    { id: 2, directory: 'two' },
    { id: 3, directory: 'three' },
  ],
  scenarios: [
    {
      when: { message: '^fall', attempt: 1 },
      steps: [
        { do: 'call', tool: 'bash', input: {}, takes_ms: 2_000 },
        { do: 'exit', code: 1 },
      ],
    },
    { steps: WORK },
  ],
};
const WAITS = 'Received; I start it when my store is back';

describeScenes('a Redis that is full', () => {
  test(
    'takes no message; what it has accepted goes on to its end, watched, and the rest follows when there is room',
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
      const doctor = await scene.run(['doctor']);
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
  test(
    'ends no run: an end is kept and stored when it takes writes again',
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
      expect(scene.evidence.criticalEvents()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a Redis that says nothing', () => {
  test(
    'because it stands still: is told as away, ends no run, and is used again as soon as it goes on',
    async () => {
      const scene = await openTestScene({ projects: { boat: BOAT }, timings: { runLeaseMs: 60_000 } });
      const bridge = await scene.startBridge();
      const running = new Conversation(scene, 'boat', 1, 'the first');
      await running.start();
      scene.redis.pause();
      const meanwhile = new Conversation(scene, 'boat', 2, 'the second');
      await meanwhile.answered(WAITS, 30_000);
      await scene.until('the word that it is away', () => said(bridge, 'is away (').length > 0, 30_000);
      scene.redis.resume();
      await expectOneAnswerEach([running, meanwhile]);
      await expectOutageToldOnce(scene, bridge);
      expect(scene.evidence.criticalEvents()).toEqual([]);
    },
    2 * SCENE_TIMEOUT_MS,
  );

  test(
    'because the line to it has gone dead: other connections are made, without an end of the process',
    async () => {
      const scene = await openTestScene({ projects: { boat: BOAT }, timings: { runLeaseMs: 60_000 } });
      const line = await RedisGate.before(scene.redis.url);
      const bridge = await scene.startBridge({ REDIS_URL: line.url });
      const running = new Conversation(scene, 'boat', 1, 'the first');
      await running.start();
      line.forgetConnections();
      const meanwhile = new Conversation(scene, 'boat', 2, 'the second');
      for (const asked of [running, meanwhile]) await asked.answered('worked through', 40_000);
      await expectOneAnswerEach([running, meanwhile]);
      expect(said(bridge, 'is away (Socket timeout.')).not.toEqual([]);
      expect(scene.evidence.criticalEvents()).toEqual([]);
      expect(await bridge.stop()).toMatchObject({ code: 0 });
    },
    2 * SCENE_TIMEOUT_MS,
  );
});

describeScenes('a Redis that refuses the login', () => {
  test(
    'to a bridge that runs is told with its words, waited for, and used again, without a secret in the log',
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
      expect(scene.evidence.criticalEvents()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a queue that hands out no jobs', () => {
  test(
    'although it takes them: the bridge ends with exit code 3, and the next one runs what waits',
    async () => {
      const environment = { WATCHKEEPER_HOST: 'quay' };
      const scene = await openTestScene({ projects: { boat: BOAT }, timings: { stallMs: 5_000 }, environment });
      const bridge = await scene.startBridge();
      const queue = await queueOf(scene, 'quay');
      await queue.pause();
      const asked = new Conversation(scene, 'boat', 1, 'the first');
      expect((await bridge.exited).code).toBe(3);
      expect(said(bridge, 'the worker of this bridge has taken none for 25 s; the bridge ends')).not.toEqual([]);
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

async function expectOneAnswerEach(conversations: readonly Conversation[]): Promise<void> {
  for (const asked of conversations) {
    await asked.answered('worked through', 30_000);
    expect(asked.starts()).toHaveLength(1);
    expect(asked.repliesWith('worked through')).toHaveLength(1);
  }
}

async function expectOutageToldOnce(scene: BridgeScene, bridge: Program): Promise<void> {
  await scene.until('the word that it is back', () => said(bridge, 'is back after').length > 0);
  expect(said(bridge, 'is away (')).toHaveLength(1);
  expect(said(bridge, 'is back after')).toHaveLength(1);
}

/** Lines of the process's log that hold these words. */
function said(program: Program, words: string): string[] {
  return program.stderr.split('\n').filter((line) => line.includes(words));
}
