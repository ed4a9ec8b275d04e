/** The watchdog without a bridge: one look, and the standby. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readProcessIdentity } from '../../src/host/identity.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { laneOf } from '../../src/jobs/names.js';
import { openStore } from '../../src/jobs/store.js';
import { journalPath } from '../../src/journal/path.js';
import { HOUR, isoTime, MINUTE, systemClock } from '../../src/time.js';
import { afterThisTest } from '../harness/scope.js';
import { pathWith } from '../harness/searchPath.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH, stepOf } from './conversation.js';
import { findRun } from './processScan.js';
import type { Program } from './program.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

// covers: bridge/assembly/standby.ts
// covers: bridge/cli/watchdog.ts

const HOST = 'scene-host';
const SILENT_FOR_MS = 15 * MINUTE;
const SECOND_ANSWERS: readonly Scenario[] = [
  { when: { attempt: 1 }, steps: [{ do: 'call', tool: 'read', input: {}, output: 'enough' }, { do: 'silence' }] },
  { steps: [{ do: 'answer', text: 'done at last' }] },
];

describeScenes('watchdog --once, without any earlier watchdog', () => {
  test(
    'finds the session that fell silent 15 minutes ago; with --dry-run it changes nothing in Redis, the folder or GitHub',
    async () => {
      const scene = await openTestScene({ projects: { hull: { chats: [{ id: 5 }] } } });
      const session = await leaveSilentSession(scene);
      const before = { redis: await readRedis(scene), folder: readFolder(scene.logs) };
      const look = ['watchdog', '--once', '--json'];
      const dry = await scene.run([...look, '--dry-run'], { WATCHKEEPER_HOST: HOST });
      expect(dry.exit).toMatchObject({ code: 1 });
      expect(JSON.parse(dry.stdout)).toMatchObject({
        unhealthy: [{ session_id: session.session_id, findings: [{ rule: 'silence' }] }],
      });
      expect({ redis: await readRedis(scene), folder: readFolder(scene.logs) }).toEqual(before);
      expect(scene.github.requests).toEqual([]);

      const command = await scene.run(look, { WATCHKEEPER_HOST: HOST });
      expect(command.exit).toMatchObject({ code: 1 });
      expect(JSON.parse(command.stdout)).toMatchObject({
        sessions: 1,
        healthy: 0,
        unhealthy: [
          { session_id: session.session_id, findings: [{ rule: 'silence', reason: 'silent_for_15_minutes' }] },
        ],
      });
      const events = scene.evidence.criticalEvents();
      expect(events.map(stepOf).filter((step) => step === 'detected')).toHaveLength(1);
      expect(events[0]).toMatchObject({ session_id: session.session_id, rule: 'silence', action_taken: 'detected' });
      expect(scene.github.issues()).toMatchObject([{ title: '[Watchdog] hull: silence' }]);
      // Its owner lives: it is asked to end the run, and nobody else touches it.
      expect(await scene.store.records.session(session.session_id)).toMatchObject({
        status: 'active',
        stop: { cause: 'incident' },
        revived_by: null,
      });
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a session with a torn record', () => {
  test(
    'holds its lane while a process carries the mark of its run, and not longer',
    async () => {
      const scene = await openTestScene({ projects: { hull: { chats: [{ id: 5 }] } } });
      const session = await leaveSilentSession(scene);
      const { redis, keys, records } = scene.store;
      const holder = (await records.lane(session.lane)).holder ?? '';
      await redis.hset(keys.session(session.session_id), 'run', '{"run_id":');
      await redis.zadd(keys.runLeases, 1, session.session_id);
      const look = () => scene.run(['watchdog', '--once'], { WATCHKEEPER_HOST: HOST });
      const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { env: { WATCHKEEPER_RUN: holder } });
      afterThisTest(() => void left.kill('SIGKILL'));
      await scene.until('the mark', () => findRun(holder).length === 1);
      await look();
      expect((await records.lane(session.lane)).holder).toBe(holder);
      left.kill('SIGKILL');
      await once(left, 'exit');
      await look();
      expect((await records.lane(session.lane)).holder).toBeNull();
      expect(await records.session(session.session_id)).toMatchObject({ status: 'failed' });
      expect(scene.evidence.criticalEvents().map(({ reason }) => reason)).toEqual(['record_unreadable']);
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a waiting message whose record this version cannot read', () => {
  // rule: an-unreadable-record-is-set-aside
  test(
    'is reported in its chat, as an event and by the doctor; the messages behind it continue then, and not before',
    async () => {
      const slow: Scenario = {
        when: { message: 'first' },
        steps: [
          { do: 'call', tool: 'bash', input: {}, takes_ms: 3_000 },
          { do: 'answer', text: 'slow but sure' },
        ],
      };
      const scene = await openTestScene({
        projects: { hull: { chats: [{ id: 5 }], scenarios: [slow, { steps: [{ do: 'answer', text: 'at last' }] }] } },
        environment: { WATCHDOG_CRON: '* * * * * *' },
      });
      await scene.startBridge();
      const first = new Conversation(scene, 'hull', 5, 'first');
      await first.start();
      const torn = new Conversation(scene, 'hull', 5, 'second');
      const last = new Conversation(scene, 'hull', 5, 'third');
      const { records, redis, keys } = scene.store;
      await scene.until('both waiting', async () => (await records.sessionIds('pending')).length === 2);
      await redis.hset(keys.session(torn.session), 'status', 'pondering');
      await torn.answered(FAILURE_PARAGRAPH);
      await last.answered('at last');
      expect(torn.events()).toMatchObject([
        { reason: 'record_unreadable', event: 'session_unrecoverable', final: true },
      ]);
      const [event] = torn.events();
      expect(Date.parse(event?.timestamp ?? '')).toBeLessThanOrEqual((await last.start()).at);
      const doctor = await scene.run(['doctor', '--json'], { PATH: pathWith('git', 'sh') });
      const checks: { name: string; verdict: string; found: string }[] = JSON.parse(doctor.stdout).checks;
      expect(checks.find(({ name }) => name === 'records')).toMatchObject({
        verdict: 'warning',
        found: expect.stringContaining(keys.quarantine('session', torn.session)),
      });
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a watchdog on another logs folder, on the same Redis', () => {
  // rule: a-foreign-journal-accuses-nobody
  test(
    'does not accuse a run whose journal it cannot see; nor does the bridge, which sees that a tool runs',
    async () => {
      const slow: Scenario = {
        steps: [
          { do: 'call', tool: 'bash', input: {}, takes_ms: 5_000 },
          { do: 'answer', text: 'slow but sure' },
        ],
      };
      const scene = await openTestScene({
        projects: { hull: { chats: [{ id: 5 }], scenarios: [slow] } },
        environment: { WATCHDOG_SILENCE_MS: '1500' },
      });
      const foreign = { WATCHKEEPER_LOGS: join(scene.folder, 'elsewhere') };
      await scene.startBridge();
      const standby = scene.start(['watchdog'], foreign);
      await standby.says('this watchdog acts now');
      const asked = new Conversation(scene, 'hull', 5, 'hello');
      await asked.answered('slow but sure');
      expect(asked.starts()).toHaveLength(1);
      expect(scene.evidence.faults()).toEqual([]);
      expect(readdirSync(foreign.WATCHKEEPER_LOGS)).not.toContain('critical_events.jsonl');
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a standby', () => {
  // rule: the-bridge-watches-if-it-can
  test(
    'that was started first leaves the watch to the bridge: the whole story of a hang is in the log of the bridge',
    async () => {
      const scene = await openTestScene({
        projects: { deck: { chats: [{ id: 5 }], scenarios: SECOND_ANSWERS } },
        environment: { WATCHDOG_SILENCE_MS: '5000' },
      });
      const standby = scene.start(['watchdog']);
      await standby.says('this watchdog acts now');
      const bridge = await scene.startBridge();
      await bridge.says('this watchdog acts now');
      await standby.says('another watchdog acts; this one observes');
      const asked = new Conversation(scene, 'deck', 5, 'anything');
      await asked.answered('done at last');
      await asked.closing();
      const steps = asked.events().map(stepOf);
      expect(steps).toEqual(['detected', 'reported', 'revived', 'closed']);
      const told = (program: Program) => program.stderr.split('\n').filter((line) => line.includes(asked.session));
      for (const step of [', silence: ', ' is filed for it', ' is run again'])
        expect(told(bridge).join('\n')).toContain(step);
      expect(told(standby)).toEqual([]);

      await bridge.stop();
      await scene.until(
        'the standby that acts again',
        () => standby.stderr.split('this watchdog acts now').length === 3,
      );
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: an-orphan-runs-again
  test(
    'takes over when the bridge is killed, and leaves the second attempt to the next bridge',
    async () => {
      const scene = await openTestScene({
        projects: { deck: { chats: [{ id: 5 }], scenarios: SECOND_ANSWERS } },
      });
      const bridge = await scene.startBridge();
      const standby = scene.start(['watchdog']);
      await scene.until('a standby that listens', async () => (await listeners(scene)) === 2);
      const asked = new Conversation(scene, 'deck', 5, 'anything');
      await asked.start();
      // One that made no call would be put back instead.
      await scene.until('a call', () =>
        scene.evidence.journal(asked.session).some(({ event }) => event === 'post_tool_use'),
      );
      expect(scene.evidence.faults()).toEqual([]);
      expect(standby.stderr).not.toContain('this watchdog acts now');

      await bridge.kill();
      const detected = await asked.event(({ action_taken }) => action_taken === 'detected');
      expect(detected).toMatchObject({ rule: 'orphan', reason: 'run_lost' });
      await standby.says('this watchdog acts now');
      await scene.until('what waits', () =>
        /sessions: \d+ running, \d+ waiting; no bridge is running, so nothing runs/.test(standby.stderr),
      );
      await scene.until('the issue', () =>
        scene.github.issues().some(({ title }) => title === '[Watchdog] deck: orphan'),
      );
      await asked.event(({ action_taken }) => action_taken === 'revival_attempted');
      expect(asked.starts(asked.revival)).toEqual([]);

      await scene.startBridge();
      await asked.answered('done at last');
      await asked.closing();
      expect(asked.events().map(stepOf)).toEqual(['detected', 'reported', 'revived', 'closed']);
      expect(asked.starts(asked.revival)).toHaveLength(1);
      expect(await standby.stop()).toMatchObject({ code: 0 });
    },
    SCENE_TIMEOUT_MS,
  );
});

/** An active session whose owner lives (this process) and whose agent has said nothing for 15 minutes. */
async function leaveSilentSession(scene: BridgeScene): Promise<AgentSession> {
  const began = systemClock.now() - SILENT_FOR_MS;
  const directory = join(scene.folder, 'work', 'hull');
  const { transitions } = openStore(scene.store.redis, { ...systemClock, now: () => began });
  const { session } = await transitions.accept({
    session_id: 'tg_hull_5_77',
    project_key: 'hull',
    chat_id: '5',
    message_id: '77',
    thread_id: null,
    sender: { id: '5', name: 'Ada' },
    message_text: 'caulk the seams',
    conversation_key: 'hull/5//0',
    lane: laneOf(HOST, directory),
    working_directory: directory,
    agent: 'scripted',
  });
  const run = { run_id: 'run-of-the-test', owner: readProcessIdentity(HOST), pid: null, started_at: began };
  const active = (await transitions.start(session, run, HOUR))?.session;
  if (active === undefined) throw new Error('the session did not become active');
  const path = journalPath(scene.logs, session.session_id);
  mkdirSync(dirname(path), { recursive: true });
  const lines = [
    { event: 'session_start', source: 'startup' },
    { event: 'user_prompt', origin: 'human' },
    { event: 'pre_tool_use', tool_use_id: '1', tool_name: 'bash', tool_input: { command: 'make' } },
    {
      event: 'post_tool_use',
      tool_use_id: '1',
      tool_name: 'bash',
      is_error: false,
      outcome: 'ok',
      tool_output_preview: '',
    },
  ].map((line) => JSON.stringify({ v: 1, timestamp: isoTime(began), session_id: session.session_id, ...line }));
  writeFileSync(path, `${lines.join('\n')}\n`);
  return active;
}

/** @returns how many processes of Watchkeeper listen for wakes */
async function listeners(scene: BridgeScene): Promise<number> {
  const clients = String(await scene.store.redis.client('LIST'));
  return clients.split('\n').filter((client) => client.includes(' name=watchkeeper-subscriber ')).length;
}

/** @returns every key with what it holds */
async function readRedis(scene: BridgeScene): Promise<Record<string, string>> {
  const { redis } = scene.store;
  const content: Record<string, string> = {};
  for (const key of (await redis.keys('*')).sort()) {
    content[key] = ((await redis.dumpBuffer(key)) ?? Buffer.alloc(0)).toString('hex');
  }
  return content;
}

/** @returns every file with what it holds; that somebody looked may stand in a log */
function readFolder(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !path.endsWith('.log') && statSync(join(folder, path)).isFile(),
  );
  return Object.fromEntries(files.sort().map((path) => [path, readFileSync(join(folder, path), 'latin1')]));
}
