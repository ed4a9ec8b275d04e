/** A project whose directory is not there: it alone is out of service, and comes back by itself. */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { DIRECTORY_MISSING_TEXT } from '../../bridge/runs/directoryWatch.js';
import { freePort } from '../harness/freePort.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import type { Scenario } from './sceneFiles.js';
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
        expect(asked.repliesWith(DIRECTORY_MISSING_TEXT)).toHaveLength(1);
        expect(asked.starts(asked.revival)).toEqual([]);
      }
      expect(scene.evidence.criticalEvents()).toEqual([]);
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
      expect(scene.evidence.criticalEvents()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );
});

async function doctorOn(scene: BridgeScene, name: string): Promise<object | undefined> {
  const doctor = await scene.run(['doctor', '--quick', '--json']);
  const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string }[] };
  return checks.find((check) => check.name === name);
}
