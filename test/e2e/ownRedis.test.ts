/** A bridge whose own Redis is killed under it: everything goes on by itself, or the bridge ends and says what to do. */
import { rmSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { findEmbeddedRedis } from '../../bridge/redis/endpoint.js';
import { systemProcessTable } from '../../src/host/processes.js';
import { testFolder } from '../harness/folder.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

// covers: bridge/health/folderWatch.ts

const WORK: Scenario = {
  steps: [
    { do: 'repeat', times: 12, steps: [{ do: 'call', tool: 'bash', input: { step: '{{index}}' }, takes_ms: 250 }] },
    { do: 'answer', text: 'worked through' },
  ],
};

describeScenes("the bridge's own Redis", () => {
  // rule: an-own-redis-comes-back
  test(
    'is waited for by a standby that was started first, which says so; returns with its data after a kill: the agent continues, a waiting message is answered, commands find it; ends with a bridge that is asked to stop twice, and the next one has its data',
    async () => {
      const scene = await openTestScene({
        redis: 'bridge',
        projects: { boat: { chats: [{ id: 1 }], scenarios: [WORK] } },
        timings: { drainMs: 40_000 },
      });
      const standby = scene.start(['watchdog']);
      const stopped = scene.start(['watchdog']);
      for (const each of [standby, stopped]) {
        await scene.until('words about Redis', () =>
          each.stderr.includes('waiting for Redis: no bridge runs in this folder'),
        );
      }
      // A stop ends the wait.
      expect(await stopped.stop()).toMatchObject({ code: 3 });
      const once = await scene.run(['watchdog', '--once']);
      expect(once.exit).toMatchObject({ code: 3 });
      const bridge = await scene.startBridge();
      await bridge.says('this watchdog acts now');
      await standby.says('another watchdog acts');
      expect(standby.stderr).toMatch(/Redis at unix:.* is back/);
      expect(await standby.stop()).toMatchObject({ code: 0 });

      const running = new Conversation(scene, 'boat', 1, 'the first');
      await running.start();
      const waiting = new Conversation(scene, 'boat', 1, 'the second');
      await scene.until('two accepted messages', () => scene.telegram.unconfirmedUpdates === 0);
      expect(await listed(scene)).toHaveLength(2);
      const killed = killServer(scene);
      for (const asked of [running, waiting]) {
        await asked.answered('worked through');
        expect(asked.starts()).toHaveLength(1);
        expect(asked.repliesWith('worked through')).toHaveLength(1);
      }
      const { server } = findEmbeddedRedis(scene.logs);
      const line = `(redis-server, process ${killed}) was gone; process ${server.pid} serves its data again`;
      expect(bridge.stderr.split(line)).toHaveLength(2);
      expect(await listed(scene)).toEqual(['completed', 'completed']);
      expect(scene.evidence.faults()).toEqual([]);

      const asked = new Conversation(scene, 'boat', 1, 'the third');
      await asked.start();
      bridge.signal('SIGTERM');
      await bridge.says('runs may finish within');
      bridge.signal('SIGTERM');
      expect(await bridge.exited).toMatchObject({ code: 143, signal: null });
      await scene.until('the end of its Redis', () => systemProcessTable().find(server.pid) === null);
      const next = await scene.startBridge();
      await asked.answered('worked through');
      expect(await next.stop()).toMatchObject({ code: 0 });
    },
    2 * SCENE_TIMEOUT_MS,
  );

  // rule: an-own-redis-comes-back
  test(
    'is killed and restarted with its data if it hangs: the agent continues, a new message is answered; killed again and again: the bridge ends with exit code 3 and says what to do',
    async () => {
      const scene = await openTestScene({
        redis: 'bridge',
        projects: { boat: { chats: [{ id: 1 }], scenarios: [WORK] } },
        timings: { runLeaseMs: 60_000, stallMs: 4_000, drainMs: 100, killGraceMs: 100 },
      });
      const bridge = await scene.startBridge();
      const running = new Conversation(scene, 'boat', 1, 'the first');
      await running.start();
      const { pid } = findEmbeddedRedis(scene.logs).server;
      process.kill(pid, 'SIGSTOP');
      const meanwhile = new Conversation(scene, 'boat', 1, 'the second');
      await scene.until('words about it', () =>
        bridge.stderr.includes(`(redis-server, process ${pid}) has not answered for 4 s and is being killed`),
      );
      for (const asked of [running, meanwhile]) {
        await asked.answered('worked through', 40_000);
        expect(asked.starts()).toHaveLength(1);
        expect(asked.repliesWith('worked through')).toHaveLength(1);
      }
      expect(scene.evidence.faults()).toEqual([]);

      const killing = scene.until(
        'five ends',
        () => {
          tryToKillServer(scene);
          return bridge.stderr.includes('5 times in a row');
        },
        40_000,
      );
      await killing;
      expect((await bridge.exited).code).toBe(3);
      expect(bridge.stderr).toMatch(/server\.log says why: .* start the bridge again, or set REDIS_URL/);
    },
    2 * SCENE_TIMEOUT_MS,
  );

  // rule: deleted-files-are-written-again
  test(
    'writes its data again if somebody deletes the logs folder: a bridge killed after that has lost no message',
    async () => {
      const scene = await openTestScene({
        redis: 'bridge',
        projects: { boat: { chats: [{ id: 1 }], scenarios: [WORK] } },
      });
      const bridge = await scene.startBridge();
      const running = new Conversation(scene, 'boat', 1, 'the first');
      await running.start();
      const waiting = [2, 3].map((number) => new Conversation(scene, 'boat', 1, `number ${number}`));
      await scene.until('three accepted messages', () => scene.telegram.unconfirmedUpdates === 0);
      expect(await listed(scene)).toHaveLength(3);
      const { pid } = findEmbeddedRedis(scene.logs).server;
      rmSync(scene.logs, { recursive: true });
      await bridge.says('was deleted while the bridge runs');
      await bridge.says(`(redis-server, process ${pid}) was gone`);
      await scene.until('the event', () =>
        scene.evidence.criticalEvents().some(({ event }) => event === 'files_deleted'),
      );
      // Commands find it again.
      expect(await listed(scene)).toHaveLength(3);
      await bridge.kill();
      await scene.startBridge();
      // Nothing is missing any more; what deleted it may do so again.
      const { checks } = JSON.parse((await scene.run(['doctor', '--quick', '--json'])).stdout);
      expect(checks).toContainEqual(
        expect.objectContaining({
          name: 'deleted files',
          verdict: 'warning',
          found: expect.stringContaining('while the bridge ran'),
        }),
      );
      for (const asked of waiting) await asked.answered('worked through', 40_000);
      expect(running.repliesWith('worked through')).toHaveLength(1);
      for (const asked of waiting) expect(asked.repliesWith('worked through')).toHaveLength(1);
    },
    2 * SCENE_TIMEOUT_MS,
  );
});

test(
  'the JavaScript server killed: the loss is reported, the agent continues, and later messages are answered',
  async () => {
    const slow: Scenario['steps'] = [
      { do: 'call', tool: 'bash', input: {}, takes_ms: 4_000 },
      { do: 'answer', text: 'worked through' },
    ];
    const scene = await openTestScene({
      redis: 'bridge',
      searchPath: testFolder(),
      projects: {
        boat: {
          chats: [
            { id: 1, directory: 'one' },
            { id: 2, directory: 'two' },
          ],
          scenarios: [{ steps: slow, when: { message: '^slow' } }, { steps: [{ do: 'answer', text: 'ashore' }] }],
        },
      },
      timings: { runLeaseMs: 3_000, killGraceMs: 500 },
    });
    const bridge = await scene.startBridge();
    const forgotten = new Conversation(scene, 'boat', 1, 'slow work');
    await forgotten.start();
    killServer(scene);
    await bridge.says('AND ALL ITS DATA IS LOST');
    const later = new Conversation(scene, 'boat', 2, 'hello');
    await later.answered('ashore');
    await forgotten.answered('worked through');
    expect(forgotten.starts()).toHaveLength(1);
    expect(forgotten.repliesWith('worked through')).toHaveLength(1);
    expect(await bridge.stop()).toMatchObject({ code: 0 });
  },
  SCENE_TIMEOUT_MS,
);

/** @returns the status of each session, as a command sees it */
async function listed(scene: BridgeScene): Promise<string[]> {
  const { stdout } = await scene.run(['sessions', '--json']);
  return (JSON.parse(stdout) as { sessions: { status: string }[] }).sessions.map(({ status }) => status);
}

function killServer(scene: BridgeScene): number {
  const { server } = findEmbeddedRedis(scene.logs);
  process.kill(server.pid, 'SIGKILL');
  return server.pid;
}

function tryToKillServer(scene: BridgeScene): void {
  try {
    killServer(scene);
  } catch {
    // Gone, and not there again yet.
  }
}
