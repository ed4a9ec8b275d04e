/** What each signal does to a process that serves. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { journalPath } from '../../src/journal/path.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import { findRun } from './processScan.js';
import { type Scenario, writeSceneFiles } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const ANSWER: Scenario = { steps: [{ do: 'answer', text: 'answer of {{session}}' }] };
const AFTER_RESTART: Scenario = { ...ANSWER, when: { message: 'service was restarted' } };
const DEAF: Scenario = {
  when: { message: '^long' },
  steps: [{ do: 'ignore_sigterm' }, { do: 'call', tool: 'bash', input: { step: 'long' }, takes_ms: 600_000 }],
};
/** For `--import`: the mark of a stop takes a second to get its name. */
const SLOW_STOP_MARK = `data:text/javascript,${encodeURIComponent(`
  import disk from 'node:fs/promises';
  import { syncBuiltinESMExports } from 'node:module';
  import { setTimeout as pause } from 'node:timers/promises';
  const { rename } = disk;
  disk.rename = async (from, to) => {
    if (String(to).endsWith('stopping.json')) await pause(1_000);
    await rename(from, to);
  };
  syncBuiltinESMExports();
`)}`;
const PROJECTS = { ship: { chats: [{ id: 1 }], scenarios: [AFTER_RESTART, DEAF, ANSWER] } };

describeScenes('a bridge without a terminal', () => {
  // rule: sighup-reads-the-configuration
  test(
    'rereads its configuration at SIGHUP: a new chat is served, a removed one is not, and runs continue',
    async () => {
      const scene = await openTestScene({
        projects: { ...PROJECTS, old: { chats: [{ id: 2 }], scenarios: [ANSWER] } },
      });
      const bridge = await scene.startBridge();
      const running = new Conversation(scene, 'ship', 1, 'long work');
      const { run } = await running.start();
      writeSceneFiles(scene.folder, { projects: { ...PROJECTS, young: { chats: [{ id: 3 }], scenarios: [ANSWER] } } });
      bridge.signal('SIGHUP');
      await bridge.says('read again: projects added: young; projects removed: old');
      const young = new Conversation(scene, 'young', 3, 'hello');
      await young.answered(`answer of ${young.session}`);
      const old = new Conversation(scene, 'old', 2, 'hello');
      await old.answered('This chat is not connected to any project');
      expect(findRun(run)).not.toEqual([]);
      expect(running.starts()).toHaveLength(1);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: reload-reaches-every-process
  test(
    'and its standby reread their configurations at `watchkeeper reload`, which prints what each says',
    async () => {
      const scene = await openTestScene({ projects: PROJECTS });
      const none = await scene.run(['reload']);
      expect(none.stdout).toContain('no bridge and no standby is running with this Redis');
      expect(none.exit).toMatchObject({ code: 1 });
      const bridge = await scene.startBridge();
      const standby = scene.start(['watchdog']);
      const bothHear = async () => JSON.parse((await scene.run(['reload', '--json'])).stdout).heard === 2;
      await scene.until('a standby that hears', bothHear);
      writeSceneFiles(scene.folder, { projects: { ...PROJECTS, young: { chats: [{ id: 3 }], scenarios: [ANSWER] } } });
      const reloaded = await scene.run(['reload']);
      const said = 'the configuration was read again: projects added: young';
      expect(reloaded.stdout.replace(/\s+/g, ' ')).toContain(`process ${bridge.pid}: ${said}`);
      expect(reloaded.stdout.replace(/\s+/g, ' ')).toContain(`process ${standby.pid}: ${said}`);
      expect(reloaded.exit).toMatchObject({ code: 0 });
      const young = new Conversation(scene, 'young', 3, 'hello');
      await young.answered(`answer of ${young.session}`);

      writeFileSync(join(scene.folder, 'watchkeeper.config.json'), '{"projects": 7}');
      // The command reads the same file, and lists its faults itself.
      expect((await scene.run(['reload'])).exit).toMatchObject({ code: 2 });
      expect(bridge.exit).toBeNull();
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: sighup-reads-the-configuration
  test(
    'with a faulty configuration logs the reason at SIGHUP, and continues with the old one',
    async () => {
      const scene = await openTestScene({ projects: PROJECTS });
      const bridge = await scene.startBridge();
      writeFileSync(join(scene.folder, 'watchkeeper.config.json'), '{"projects": {"ship": {"directory": 1}}}');
      bridge.signal('SIGHUP');
      await bridge.says('the configuration was not reloaded, and the old one stays');
      await bridge.says('projects.ship.directory: must be the path of a directory');
      const asked = new Conversation(scene, 'ship', 1, 'hello');
      await asked.answered(`answer of ${asked.session}`);
      expect(bridge.exit).toBeNull();
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: sigusr-opens-no-debugger
  test(
    'logs SIGUSR1 and SIGUSR2 and does nothing else: no debugger is opened',
    async () => {
      const scene = await openTestScene({ projects: PROJECTS });
      const bridge = await scene.startBridge();
      for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
        bridge.signal(signal);
        await bridge.says(`${signal} means nothing to Watchkeeper`);
      }
      expect(bridge.stderr).not.toContain('Debugger listening');
      const asked = new Conversation(scene, 'ship', 1, 'hello');
      await asked.answered(`answer of ${asked.session}`);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: signals-stop-in-order
  test(
    'stops in order at SIGQUIT and logs that',
    async () => {
      const scene = await openTestScene({ projects: PROJECTS });
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, 'long work');
      const { run } = await asked.start();
      bridge.signal('SIGQUIT');
      expect(await bridge.exited).toMatchObject({ code: 0, signal: null });
      await bridge.says('SIGQUIT: asked to stop');
      expect(findRun(run)).toEqual([]);
      await expectPutBack(scene, asked);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'leaves no half-written file in its logs folder when it stops, even on a slow disk',
    async () => {
      const scene = await openTestScene({ projects: PROJECTS });
      const bridge = await scene.startBridge({ NODE_OPTIONS: `--import=${SLOW_STOP_MARK}` });
      bridge.signal('SIGTERM');
      expect(await bridge.exited).toMatchObject({ code: 0, signal: null });
      expect(readdirSync(scene.logs).filter((name) => name.startsWith('.'))).toEqual([]);
      expect(existsSync(join(scene.logs, 'stopping.json'))).toBe(true);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-second-sigterm-ends-at-once
  test(
    'ends at once at a second SIGTERM and logs that: its deaf agent is gone, its message loses no attempt',
    async () => {
      const scene = await openTestScene({ projects: PROJECTS, timings: { drainMs: 40_000, killGraceMs: 10_000 } });
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, 'long work');
      const { run } = await asked.start();
      bridge.signal('SIGTERM');
      await bridge.says('runs may finish within');
      bridge.signal('SIGTERM');
      const exit = await bridge.exited;
      expect(exit).toMatchObject({ code: 143, signal: null });
      expect(exit.tookMs).toBeLessThan(5_000);
      await bridge.says('SIGTERM: asked to stop again');
      expect(findRun(run)).toEqual([]);
      await expectPutBack(scene, asked);
      await scene.startBridge();
      await asked.answered(`answer of ${asked.session}`);
      expect(asked.starts(asked.revival)).toEqual([]);
      expect(scene.evidence.faults()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-cut-down-stop-uses-no-attempt
  test(
    'killed while it stops: the next one puts back its runs, and no attempt is used',
    async () => {
      const scene = await openTestScene({ projects: PROJECTS, timings: { drainMs: 40_000 } });
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, 'long work');
      const { run } = await asked.start();
      // Before its first call an attempt would not count anyway.
      const journal = journalPath(scene.logs, asked.session);
      await scene.until('a call', () => existsSync(journal) && readFileSync(journal, 'utf8').includes('pre_tool_use'));
      bridge.signal('SIGTERM');
      await bridge.says('runs may finish within');
      await scene.until('its mark', () => existsSync(join(scene.logs, 'stopping.json')));
      await bridge.kill();
      await scene.startBridge();
      await asked.answered(`answer of ${asked.session}`);
      expect(findRun(run)).toEqual([]);
      expect(asked.starts(asked.revival)).toEqual([]);
      expect(scene.evidence.faults()).toEqual([]);
      expect(existsSync(join(scene.logs, 'stopping.json'))).toBe(false);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-cut-down-stop-uses-no-attempt
  test(
    'killed while it stops: one with the same logs folder and another host id puts back its runs, too',
    async () => {
      const scene = await openTestScene({ projects: PROJECTS, timings: { drainMs: 40_000, runLeaseMs: 2_000 } });
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, 'long work');
      await asked.start();
      await asked.firstCall();
      bridge.signal('SIGTERM');
      await scene.until('its mark', () => existsSync(join(scene.logs, 'stopping.json')));
      await bridge.kill();
      // What another host ran counts as dead after two leases.
      const leaseUntil = (await scene.store.records.leaseUntil(asked.session)) ?? 0;
      await scene.until('the end of two leases', () => Date.now() > leaseUntil + 2_000);
      await scene.startBridge({ WATCHKEEPER_HOST: 'renamed' });
      await asked.answered(`answer of ${asked.session}`);
      expect(asked.starts(asked.revival)).toEqual([]);
      expect(scene.evidence.faults()).toEqual([]);
      expect(scene.evidence.issueWrites()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a standby without a terminal', () => {
  // rule: a-cut-down-stop-uses-no-attempt
  test(
    'that is first to find the runs of a bridge killed while it stopped puts them back: no attempt is used',
    async () => {
      const scene = await openTestScene({ projects: PROJECTS, timings: { drainMs: 40_000 } });
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, 'long work');
      await asked.start();
      // Before its first call an attempt would not count anyway.
      const journal = journalPath(scene.logs, asked.session);
      await scene.until('a call', () => existsSync(journal) && readFileSync(journal, 'utf8').includes('pre_tool_use'));
      bridge.signal('SIGTERM');
      await scene.until('its mark', () => existsSync(join(scene.logs, 'stopping.json')));
      await bridge.kill();
      scene.start(['watchdog']);
      await scene.until('the end of the run', async () => {
        return (await scene.store.records.session(asked.session))?.status !== 'active';
      });
      await expectPutBack(scene, asked);
      await scene.startBridge();
      await asked.answered(`answer of ${asked.session}`);
      expect(asked.starts(asked.revival)).toEqual([]);
      expect(scene.evidence.faults()).toEqual([]);
      expect(scene.evidence.issueWrites()).toEqual([]);
      expect(asked.repliesWith(FAILURE_PARAGRAPH)).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: signals-stop-in-order
  test(
    'rereads its configuration at SIGHUP, continues at SIGUSR2, and stops in order at SIGQUIT',
    async () => {
      const scene = await openTestScene({ projects: PROJECTS });
      const standby = scene.start(['watchdog']);
      await standby.says('no bridge is running, so nothing runs');
      writeSceneFiles(scene.folder, { projects: { ship: { ...PROJECTS.ship, thresholds: { silence_ms: 9_000 } } } });
      standby.signal('SIGHUP');
      await standby.says('read again: projects changed: ship');
      standby.signal('SIGUSR2');
      await standby.says('SIGUSR2 means nothing');
      standby.signal('SIGQUIT');
      expect(await standby.exited).toMatchObject({ code: 0, signal: null });
      await standby.says('SIGQUIT: asked to stop');
    },
    SCENE_TIMEOUT_MS,
  );
});

async function expectPutBack(scene: BridgeScene, { session }: Conversation): Promise<void> {
  const expected = { status: 'pending', attempt: 1, interruptions: 1, incident_id: null };
  expect(await scene.store.records.session(session)).toMatchObject(expected);
}
