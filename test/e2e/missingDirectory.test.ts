/** A project whose directory is not there: it alone is out of service, and comes back by itself. */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { DIRECTORY_MISSING_TEXT } from '../../bridge/runs/waitingWords.js';
import { freePort } from '../harness/freePort.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import { type Scenario, writeSceneFiles } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

// covers: bridge/runs/directoryWatch.ts

const ANSWER: Scenario = { steps: [{ do: 'answer', text: 'answer of {{session}}' }] };
const PROJECTS = {
  ship: { chats: [{ id: 1 }], scenarios: [ANSWER] },
  boat: { chats: [{ id: 2 }], scenarios: [ANSWER] },
};

describeScenes('a project whose directory is missing', () => {
  // rule: a-missing-directory-waits
  test(
    'at the start of the bridge disables only that project, reported everywhere and once per message; it recovers',
    async () => {
      const port = await freePort();
      const scene = await openTestScene({ projects: PROJECTS, environment: { HEALTH_PORT: String(port) } });
      const directory = join(scene.folder, 'work', 'ship');
      rmSync(directory, { recursive: true });
      const bridge = await scene.startBridge();
      await bridge.says(`is out of service: ${directory} is not a directory`);

      const waiting = new Conversation(scene, 'ship', 1, 'the first');
      const behind = new Conversation(scene, 'ship', 1, 'the second');
      for (const asked of [waiting, behind]) await asked.answered(DIRECTORY_MISSING_TEXT);
      const other = new Conversation(scene, 'boat', 2, 'hello');
      await other.answered(`answer of ${other.session}`);
      const status = new Conversation(scene, 'ship', 1, '/status');
      await status.answered("Its project's folder is missing at the moment");
      const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
      expect(ready.status).toBe(200);
      expect(await ready.text()).toContain('out of service, directory missing: ship');
      expect(await doctorOn(scene, 'directory of ship')).toMatchObject({
        verdict: 'fault',
        found: expect.stringContaining('the project is unavailable'),
      });

      await bridge.stop();
      await scene.startBridge();
      mkdirSync(directory);
      for (const asked of [waiting, behind]) {
        await asked.answered(`answer of ${asked.session}`);
        const said = scene.telegram.transcript.filter(
          ({ what, text, reply_to }) =>
            what === 'message' && text === DIRECTORY_MISSING_TEXT && reply_to === asked.messageId,
        );
        expect(said).toHaveLength(1);
        // The run has taken that message over.
        await scene.until('the last line', () => asked.repliesWith(DIRECTORY_MISSING_TEXT).length === 0);
        expect(asked.replies()).toHaveLength(2);
        expect(asked.starts(asked.revival)).toEqual([]);
      }
      expect(scene.evidence.faults()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-missing-directory-waits
  test(
    'while the bridge runs makes its messages wait, and nothing starts elsewhere',
    async () => {
      const scene = await openTestScene({ projects: PROJECTS });
      const directory = join(scene.folder, 'work', 'ship');
      const bridge = await scene.startBridge();
      const before = new Conversation(scene, 'ship', 1, 'before');
      await before.answered(`answer of ${before.session}`);
      renameSync(directory, `${directory}.away`);
      const asked = new Conversation(scene, 'ship', 1, 'meanwhile');
      await asked.answered(DIRECTORY_MISSING_TEXT);
      expect(asked.starts()).toEqual([]);
      renameSync(`${directory}.away`, directory);
      await asked.answered(`answer of ${asked.session}`);
      await bridge.says(`${directory} is back`);
      expect(scene.evidence.faults()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'is never said to be back if the project has got another one instead',
    async () => {
      const projects = (directory: string) => ({ ship: { chats: [{ id: 1, directory }], scenarios: [ANSWER] } });
      const scene = await openTestScene({ projects: projects('one') });
      const former = join(scene.folder, 'work', 'ship', 'one');
      rmSync(former, { recursive: true });
      const bridge = await scene.startBridge();
      await bridge.says(`is out of service: ${former} is not a directory`);
      writeSceneFiles(scene.folder, { projects: projects('two') });
      bridge.signal('SIGHUP');
      await bridge.says(`${former} is no longer its directory`);
      expect(bridge.stderr).not.toContain(`${former} is back`);
      const asked = new Conversation(scene, 'ship', 1, 'hello');
      await asked.answered(`answer of ${asked.session}`);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-waiting-message-follows-its-place
  test.each(['a restart', 'SIGHUP'] as const)(
    'because it was moved, and the configuration says so at %s: what waits runs there, in order, at the first attempt',
    async (how) => {
      const slow: Scenario = { when: { message: '^slow' }, steps: [{ do: 'sleep', ms: 1_500 }, ...ANSWER.steps] };
      const projects = (directory: string) => ({
        ship: { chats: [{ id: 1, directory }], scenarios: [slow, ANSWER] },
      });
      const scene = await openTestScene({ projects: projects('one'), timings: { drainMs: 1 } });
      const bridge = await scene.startBridge();
      const first = new Conversation(scene, 'ship', 1, 'slow');
      await first.start();
      const waiting = [1, 2].map((number) => new Conversation(scene, 'ship', 1, `waiting ${number}`));
      await scene.until('accepted messages', () => scene.telegram.unconfirmedUpdates === 0);
      if (how === 'a restart') await bridge.stop();
      const work = join(scene.folder, 'work', 'ship');
      renameSync(join(work, 'one'), join(work, 'two'));
      writeSceneFiles(scene.folder, { projects: projects('two') });
      if (how === 'SIGHUP') bridge.signal('SIGHUP');
      else await scene.startBridge();
      for (const asked of [first, ...waiting]) {
        await asked.answered(`answer of ${asked.session}`);
        expect(asked.starts(asked.revival)).toEqual([]);
      }
      for (const asked of waiting) {
        const session = await scene.store.records.session(asked.session);
        expect(session?.working_directory).toBe(join(work, 'two'));
      }
      const order = scene.evidence.agents().filter(({ event }) => event === 'start');
      expect([...new Set(order.map(({ session }) => session))]).toEqual(
        [first, ...waiting].map(({ session }) => session),
      );
      expect(scene.evidence.faults()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );
});

async function doctorOn(scene: BridgeScene, name: string): Promise<object | undefined> {
  const doctor = await scene.run(['doctor', '--quick', '--json']);
  const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string }[] };
  return checks.find((check) => check.name === name);
}
