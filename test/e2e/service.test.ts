/** A service manager stops what it runs: every process of the bridge gets the signal, not the bridge alone. */
import { expect, test } from '@jest/globals';
import { Conversation } from './conversation.js';
import { descendantsOf, findRun } from './processScan.js';
import type { Program } from './program.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const RESTARTED = 'service was restarted';
const ANSWER: Scenario['steps'] = [{ do: 'answer', text: 'answer of {{session}}' }];
const BUSY: Scenario['steps'] = [{ do: 'call', tool: 'bash', input: { step: 'long' }, takes_ms: 600_000 }];
/** A program that obeys the signal as the system does, without a word. */
const DIES: Scenario['steps'] = [
  { do: 'note', text: 'at work' },
  { do: 'crash', signal: 'SIGTERM' },
];

describeScenes('a bridge whose service is stopped with agents at work', () => {
  // rule: a-stopped-host-accuses-nobody
  test.each([
    ['the scene', 'scene'],
    ['the bridge', 'bridge'],
  ] as const)(
    'with SIGTERM to all processes and a Redis of %s: each message is run again and answered once, no incident',
    async (_, redis) => {
      const scene = await openTestScene({
        redis,
        projects: {
          ship: {
            chats: [
              { id: 1, directory: 'one' },
              { id: 2, directory: 'two' },
              { id: 3, directory: 'three' },
            ],
            scenarios: [{ when: { message: RESTARTED }, steps: ANSWER }, { steps: BUSY }],
          },
        },
      });
      const bridge = await scene.startBridge();
      const asked = [1, 2, 3].map((chat) => new Conversation(scene, 'ship', chat, 'long work'));
      const runs = await Promise.all(asked.map((one) => one.start()));
      for (const { run } of runs) await scene.until('the agent', () => findRun(run).length > 0);
      signalAll(bridge, 'SIGTERM');
      expect(await bridge.exited).toMatchObject({ code: 0, signal: null });
      expect(runs.flatMap(({ run }) => findRun(run))).toEqual([]);

      await scene.startBridge();
      for (const one of asked) {
        await one.answered(`answer of ${one.session}`);
        expect(one.repliesWith('answer of')).toHaveLength(1);
        expect(one.starts()).toHaveLength(2);
        expect(one.starts(one.revival)).toEqual([]);
      }
      expect(scene.evidence.faults()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-stopped-host-accuses-nobody
  test(
    'and whose agents get the signal first: they are put back as well',
    async () => {
      const scene = await openTestScene({
        projects: {
          ship: { chats: [{ id: 1 }], scenarios: [{ when: { message: RESTARTED }, steps: ANSWER }, { steps: BUSY }] },
        },
      });
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, 'long work');
      const { run } = await asked.start();
      const agent = await scene.until('the agent', () => findRun(run)[0]);
      process.kill(agent.pid, 'SIGTERM');
      await scene.until('its end', () => findRun(run).length === 0);
      bridge.signal('SIGTERM');
      expect(await bridge.exited).toMatchObject({ code: 0 });
      expect(await scene.store.records.session(asked.session)).toMatchObject({
        status: 'pending',
        attempt: 1,
        interruptions: 1,
        incident_id: null,
      });
      await scene.startBridge();
      await asked.answered(`answer of ${asked.session}`);
      expect(scene.evidence.faults()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-stopped-host-accuses-nobody
  test(
    'that is not stopped: an agent that ends by SIGTERM is still a crash',
    async () => {
      const scene = await openTestScene({
        projects: {
          ship: { chats: [{ id: 1 }], scenarios: [{ when: { attempt: 2 }, steps: ANSWER }, { steps: DIES }] },
        },
      });
      await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, 'hello');
      await asked.answered(`answer of ${asked.revival}`);
      expect((await asked.event(({ rule }) => rule === 'crash')).reason).toBe('run_failed_signal_SIGTERM');
    },
    SCENE_TIMEOUT_MS,
  );
});

/** What a unit with `KillMode=control-group` does. The reaper is among them, and a Redis that the bridge has brought. */
function signalAll(bridge: Program, signal: NodeJS.Signals): void {
  for (const { pid } of descendantsOf(bridge.pid)) process.kill(pid, signal);
  bridge.signal(signal);
}
