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
const SLOW: Scenario = { when: { message: '^slow' }, steps: [{ do: 'sleep', ms: 1_500 }, ...ANSWER.steps] };

const TIMINGS = { drainMs: 1 };

/** Where the projects stand that the configuration moves. */
function projects(places: { readonly rover: string; readonly sloop: string; readonly yawl: string }) {
  const moved = (id: number, directory: string) => ({ chats: [{ id, directory }], scenarios: [SLOW, ANSWER] });
  return {
    ship: { chats: [{ id: 1 }], scenarios: [ANSWER] },
    boat: { chats: [{ id: 2 }], scenarios: [ANSWER] },
    raft: { chats: [{ id: 3 }], scenarios: [ANSWER] },
    rover: moved(4, places.rover),
    sloop: moved(5, places.sloop),
    yawl: moved(6, places.yawl),
  };
}

describeScenes('a project whose directory is missing', () => {
  // rule: a-missing-directory-waits
  // rule: a-waiting-message-follows-its-place
  test(
    'at the start of the bridge, or while it runs, or because it was moved: it alone waits, and recovers',
    async () => {
      const port = await freePort();
      const scene = await openTestScene({
        projects: projects({ rover: 'one', sloop: 'one', yawl: 'one' }),
        timings: TIMINGS,
        environment: { HEALTH_PORT: String(port) },
      });
      const work = join(scene.folder, 'work');
      const missing = join(work, 'ship');
      const former = join(work, 'rover', 'one');
      for (const each of [missing, former]) rmSync(each, { recursive: true });
      const bridge = await scene.startBridge();

      // At the start it disables only that project, reported everywhere and once per message.
      for (const each of [missing, former]) await bridge.says(`is out of service: ${each} is not a directory`);
      const waiting = new Conversation(scene, 'ship', 1, 'the first');
      const behind = new Conversation(scene, 'ship', 1, 'the second');
      for (const asked of [waiting, behind]) await asked.answered(DIRECTORY_MISSING_TEXT);
      const other = new Conversation(scene, 'boat', 2, 'hello');
      await other.answered(`answer of ${other.session}`);
      const status = new Conversation(scene, 'ship', 1, '/status');
      await status.answered("Its project's folder is missing at the moment");
      const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
      expect(ready.status).toBe(200);
      expect(await ready.text()).toMatch(/out of service, directory missing: [^\n]*\bship\b/);
      expect(await doctorOn(scene, 'directory of ship')).toMatchObject({
        verdict: 'fault',
        found: expect.stringContaining('the project is unavailable'),
      });

      // While the bridge runs it makes its messages wait, and nothing starts elsewhere.
      const raft = join(work, 'raft');
      const before = new Conversation(scene, 'raft', 3, 'before');
      await before.answered(`answer of ${before.session}`);
      renameSync(raft, `${raft}.away`);
      const meanwhile = new Conversation(scene, 'raft', 3, 'meanwhile');
      await meanwhile.answered(DIRECTORY_MISSING_TEXT);
      expect(meanwhile.starts()).toEqual([]);
      renameSync(`${raft}.away`, raft);
      await meanwhile.answered(`answer of ${meanwhile.session}`);
      await bridge.says(`${raft} is back`);

      // The configuration says at a restart that it was moved: what waits runs there.
      const yawl = await askThree(scene, 'yawl', 6);
      await bridge.stop();
      renameSync(join(work, 'yawl', 'one'), join(work, 'yawl', 'two'));
      configure(scene, { rover: 'one', sloop: 'one', yawl: 'two' });
      for (const each of [missing, former]) rmSync(each, { recursive: true });
      const second = await scene.startBridge();
      await expectInOrder(scene, yawl, join(work, 'yawl', 'two'));

      // What waited for the missing one before the restart is not told again.
      mkdirSync(missing);
      for (const asked of [waiting, behind]) {
        await asked.answered(`answer of ${asked.session}`);
        const said = scene.telegram.transcript.filter(
          ({ what, text, reply_to, chat }) =>
            chat === asked.chat &&
            what === 'message' &&
            text === DIRECTORY_MISSING_TEXT &&
            reply_to === asked.messageId,
        );
        expect(said).toHaveLength(1);
        // The run has taken that message over.
        await scene.until('the last line', () => asked.repliesWith(DIRECTORY_MISSING_TEXT).length === 0);
        expect(asked.replies()).toHaveLength(2);
        expect(asked.starts(asked.revival)).toEqual([]);
      }

      // The same at SIGHUP; and nobody says that a directory is back which the project has no longer.
      await second.says(`is out of service: ${former} is not a directory`);
      const sloop = await askThree(scene, 'sloop', 5);
      renameSync(join(work, 'sloop', 'one'), join(work, 'sloop', 'two'));
      configure(scene, { rover: 'two', sloop: 'two', yawl: 'two' });
      second.signal('SIGHUP');
      await second.says(`${former} is no longer its directory`);
      expect(second.stderr).not.toContain(`${former} is back`);
      const elsewhere = new Conversation(scene, 'rover', 4, 'hello');
      await elsewhere.answered(`answer of ${elsewhere.session}`);
      await expectInOrder(scene, sloop, join(work, 'sloop', 'two'));
      expect(scene.evidence.faults()).toEqual([]);
    },
    2 * SCENE_TIMEOUT_MS,
  );
});

function configure(scene: BridgeScene, places: Parameters<typeof projects>[0]): void {
  writeSceneFiles(scene.folder, { projects: projects(places), timings: TIMINGS });
}

/** @returns a message at work, and two that wait behind it */
async function askThree(scene: BridgeScene, project: string, chat: number): Promise<readonly Conversation[]> {
  const first = new Conversation(scene, project, chat, 'slow');
  await first.start();
  const waiting = [1, 2].map((number) => new Conversation(scene, project, chat, `waiting ${number}`));
  await scene.until('accepted messages', () => scene.telegram.unconfirmedUpdates === 0);
  return [first, ...waiting];
}

/** All at the first attempt; those that waited in the directory. */
async function expectInOrder(scene: BridgeScene, all: readonly Conversation[], directory: string): Promise<void> {
  for (const asked of all) {
    await asked.answered(`answer of ${asked.session}`);
    expect(asked.starts(asked.revival)).toEqual([]);
  }
  for (const asked of all.slice(1)) {
    const session = await scene.store.records.session(asked.session);
    expect(session?.working_directory).toBe(directory);
  }
  const sessions = all.map(({ session }) => session);
  const order = scene.evidence.agents().filter(({ event, session }) => event === 'start' && sessions.includes(session));
  expect([...new Set(order.map(({ session }) => session))]).toEqual(sessions);
}

async function doctorOn(scene: BridgeScene, name: string): Promise<object | undefined> {
  const doctor = await scene.run(['doctor', '--quick', '--json']);
  const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string }[] };
  return checks.find((check) => check.name === name);
}
