/** What each signal does to a process that serves. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import { findRun } from './processScan.js';
import type { Program } from './program.js';
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

interface Cut {
  readonly asked: Conversation;
  readonly run: string;
}

/** With chats to ask while the first one is at work. */
const FLEET = {
  ...PROJECTS,
  other: { chats: [{ id: 4 }], scenarios: [ANSWER] },
  old: { chats: [{ id: 2 }], scenarios: [ANSWER] },
};
const { old: _, ...WITHOUT_OLD } = FLEET;

describeScenes('a bridge and a standby without a terminal', () => {
  // rule: sighup-reads-the-configuration
  // rule: sigusr-opens-no-debugger
  // rule: reload-reaches-every-process
  // rule: signals-stop-in-order
  test(
    'log SIGUSR1 and SIGUSR2, reread their configurations at SIGHUP and at `watchkeeper reload`, keep the old one beside a faulty one, and stop in order at SIGQUIT',
    async () => {
      const scene = await openTestScene({ projects: FLEET });
      const none = await scene.run(['reload']);
      expect(none.stdout).toContain('no bridge and no standby is running with this Redis');
      expect(none.exit).toMatchObject({ code: 1 });
      const standby = scene.start(['watchdog']);
      await standby.says('no bridge is running, so nothing runs');
      writeSceneFiles(scene.folder, {
        projects: { ...FLEET, ship: { ...FLEET.ship, thresholds: { silence_ms: 900_000 } } },
      });
      standby.signal('SIGHUP');
      await standby.says('read again: projects changed: ship');
      standby.signal('SIGUSR2');
      await standby.says('SIGUSR2 means nothing');

      const bridge = await scene.startBridge();
      const running = new Conversation(scene, 'ship', 1, 'long work');
      const { run } = await running.start();

      // No debugger is opened.
      for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
        bridge.signal(signal);
        await bridge.says(`${signal} means nothing to Watchkeeper`);
      }
      expect(bridge.stderr).not.toContain('Debugger listening');
      await expectAnswer(scene, 'other', 4);

      // A faulty configuration: the reason is logged, and the old one is used.
      writeFileSync(join(scene.folder, 'watchkeeper.config.json'), '{"projects": {"ship": {"directory": 1}}}');
      bridge.signal('SIGHUP');
      await bridge.says('the configuration was not reloaded, and the old one stays');
      await bridge.says('projects.ship.directory: must be the path of a directory');
      await expectAnswer(scene, 'other', 4);
      expect(bridge.exit).toBeNull();

      // A new chat is served, a removed one is not, and runs continue.
      const young = { chats: [{ id: 3 }], scenarios: [ANSWER] };
      writeSceneFiles(scene.folder, { projects: { ...WITHOUT_OLD, young } });
      bridge.signal('SIGHUP');
      await bridge.says('read again: projects added: young; projects removed: old');
      await expectAnswer(scene, 'young', 3);
      const old = new Conversation(scene, 'old', 2, 'hello');
      await old.answered('This chat is not connected to any project');
      expect(findRun(run)).not.toEqual([]);
      expect(running.starts()).toHaveLength(1);

      // Both reread, and the command prints what each says.
      const newest = { chats: [{ id: 5 }], scenarios: [ANSWER] };
      writeSceneFiles(scene.folder, { projects: { ...WITHOUT_OLD, young, newest } });
      const reloaded = await scene.run(['reload']);
      const printed = reloaded.stdout.replace(/\s+/g, ' ');
      expect(printed).toContain(`process ${bridge.pid}: the configuration was read again: projects added: newest`);
      expect(printed).toMatch(
        new RegExp(`process ${standby.pid}: the configuration was read again: projects added: [^;]*newest`),
      );
      expect(reloaded.exit).toMatchObject({ code: 0 });
      await expectAnswer(scene, 'newest', 5);
      writeFileSync(join(scene.folder, 'watchkeeper.config.json'), '{"projects": 7}');
      // The command reads the same file, and lists its faults itself.
      expect((await scene.run(['reload'])).exit).toMatchObject({ code: 2 });
      expect(bridge.exit).toBeNull();

      standby.signal('SIGQUIT');
      expect(await standby.exited).toMatchObject({ code: 0, signal: null });
      await standby.says('SIGQUIT: asked to stop');
      bridge.signal('SIGQUIT');
      expect(await bridge.exited).toMatchObject({ code: 0, signal: null });
      await bridge.says('SIGQUIT: asked to stop');
      expect(findRun(run)).toEqual([]);
      await expectPutBack(scene, running);
    },
    2 * SCENE_TIMEOUT_MS,
  );
});

describeScenes('a bridge without a terminal', () => {
  // rule: a-second-sigterm-ends-at-once
  test(
    'ends at once at a second SIGTERM and logs that: its deaf agent is gone, its message loses no attempt; the next one leaves no half-written file in its logs folder when it stops, even on a slow disk',
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

      const next = await scene.startBridge({ NODE_OPTIONS: `--import=${SLOW_STOP_MARK}` });
      await asked.answered(`answer of ${asked.session}`);
      expect(asked.starts(asked.revival)).toEqual([]);
      expect(scene.evidence.faults()).toEqual([]);
      await scene.until(
        'the end of its work',
        async () => (await scene.store.records.sessionIds('active')).length === 0,
      );
      next.signal('SIGTERM');
      expect(await next.exited).toMatchObject({ code: 0, signal: null });
      expect(readdirSync(scene.logs).filter((name) => name.startsWith('.'))).toEqual([]);
      expect(existsSync(join(scene.logs, 'stopping.json'))).toBe(true);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-cut-down-stop-uses-no-attempt
  test(
    'killed while it stops: whoever is next puts back its runs, and no attempt is used: the next one, a standby, or one with the same logs folder and another host id',
    async () => {
      const scene = await openTestScene({ projects: PROJECTS, timings: { drainMs: 40_000, runLeaseMs: 2_000 } });
      const first = await scene.startBridge();
      const one = await killWhileItStops(scene, first);
      const second = await scene.startBridge();
      await expectNoAttemptUsed(scene, one);
      expect(existsSync(join(scene.logs, 'stopping.json'))).toBe(false);

      const two = await killWhileItStops(scene, second);
      const standby = scene.start(['watchdog']);
      await scene.until('the end of the run', async () => {
        return (await scene.store.records.session(two.asked.session))?.status !== 'active';
      });
      await expectPutBack(scene, two.asked);
      await standby.stop();
      const third = await scene.startBridge();
      await expectNoAttemptUsed(scene, two);

      const three = await killWhileItStops(scene, third);
      // What another host ran counts as dead after two leases.
      const leaseUntil = (await scene.store.records.leaseUntil(three.asked.session)) ?? 0;
      await scene.until('the end of two leases', () => Date.now() > leaseUntil + 2_000);
      await scene.startBridge({ WATCHKEEPER_HOST: 'renamed' });
      await expectNoAttemptUsed(scene, three);
    },
    2 * SCENE_TIMEOUT_MS,
  );
});

/** @returns a message that was at work, and its run */
async function killWhileItStops(scene: BridgeScene, bridge: Program): Promise<Cut> {
  const asked = new Conversation(scene, 'ship', 1, 'long work');
  const { run } = await asked.start();
  // Before its first call an attempt would not count anyway.
  await asked.firstCall();
  bridge.signal('SIGTERM');
  await bridge.says('runs may finish within');
  await scene.until('its mark', () => existsSync(join(scene.logs, 'stopping.json')));
  await bridge.kill();
  return { asked, run };
}

async function expectNoAttemptUsed(scene: BridgeScene, { asked, run }: Cut): Promise<void> {
  await asked.answered(`answer of ${asked.session}`);
  expect(findRun(run)).toEqual([]);
  expect(asked.starts(asked.revival)).toEqual([]);
  // That a bridge was started often is reported rightly.
  expect(scene.evidence.faults().filter(({ event }) => event !== 'bridge_restarts')).toEqual([]);
  expect(scene.evidence.issueWrites()).toEqual([]);
  expect(asked.repliesWith(FAILURE_PARAGRAPH)).toEqual([]);
}

async function expectAnswer(scene: BridgeScene, project: string, chat: number): Promise<void> {
  const asked = new Conversation(scene, project, chat, 'hello');
  await asked.answered(`answer of ${asked.session}`);
}

async function expectPutBack(scene: BridgeScene, { session }: Conversation): Promise<void> {
  const expected = { status: 'pending', attempt: 1, interruptions: 1, incident_id: null };
  expect(await scene.store.records.session(session)).toMatchObject(expected);
}
