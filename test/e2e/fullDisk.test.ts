/** A logs folder that takes nothing any more: recovery goes on, everybody is told, and no line is lost or claimed. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { freePort } from '../harness/freePort.js';
import { pathWith } from '../harness/searchPath.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH, stepOf } from './conversation.js';
import type { Program } from './program.js';
import type { Scenario } from './sceneFiles.js';
import { type Fault, NO_SPACE, onSmallDisk, testWithMounts, WORK } from './smallDisk.js';
import { describeScenes, openTestScene } from './testScene.js';

const SILENCE_MS = 9_000;
const EXITS: Scenario = { when: { message: '^exit' }, steps: [{ do: 'exit', code: 1 }] };
const TIMEOUT_MS = 120_000;
const WITHIN_MS = 40_000;
const STEPS = [
  ['detected', 'reported', 'revived', 'closed'],
  ['detected', 'reported', 'told', 'closed'],
];

const PATHS_TAKEN: Fault = {
  begin: (logs) => {
    writeFileSync(join(logs, 'critical_events.jsonl'), '');
    renameSync(join(logs, 'critical_events.jsonl'), join(logs, 'critical_events.away'));
    mkdirSync(join(logs, 'critical_events.jsonl'));
    renameSync(join(logs, 'sessions'), join(logs, 'sessions.away'));
    writeFileSync(join(logs, 'sessions'), '');
  },
  end: (logs) => {
    rmSync(join(logs, 'critical_events.jsonl'), { recursive: true });
    renameSync(join(logs, 'critical_events.away'), join(logs, 'critical_events.jsonl'));
  },
};
const READ_ONLY: Fault = {
  begin: (logs) => void execFileSync('mount', ['-o', 'remount,ro', logs]),
  end: (logs) => void execFileSync('mount', ['-o', 'remount,rw', logs]),
};

describeScenes('a logs folder that cannot be written', () => {
  // rule: a-full-disk-keeps-nobody-waiting
  test(
    'because its paths are taken: the run continues, another is revived and reported, lines follow later, once',
    async () => {
      const scene = await openFleet();
      await seeThrough(scene, PATHS_TAKEN, 'while it runs');
    },
    TIMEOUT_MS,
  );

  // rule: a-full-disk-keeps-nobody-waiting
  testWithMounts(
    'because its disk is full: the run continues, another is revived and reported, lines follow later, once',
    async () => {
      const scene = await openFleet();
      onSmallDisk(scene.logs);
      await seeThrough(scene, NO_SPACE, 'while it runs');
    },
    TIMEOUT_MS,
  );

  // rule: a-full-disk-keeps-nobody-waiting
  testWithMounts(
    'because it is read-only when the bridge is restarted: messages are still run, revived and reported',
    async () => {
      const scene = await openFleet();
      onSmallDisk(scene.logs);
      await seeThrough(scene, READ_ONLY, 'before it starts');
    },
    TIMEOUT_MS,
  );
});

async function openFleet(): Promise<BridgeScene> {
  const chats = [
    { id: 1, directory: 'one' },
    { id: 2, directory: 'two' },
  ];
  const boat = { chats, scenarios: [EXITS, WORK], thresholds: { silence_ms: SILENCE_MS } };
  // A bridge that stands still for seconds beside other work loses no run, which would be incidents of its own. A third of it is how
  // often the record notes that the agent is active, which is all that is known of it without a journal.
  const timings = { runLeaseMs: SILENCE_MS };
  return openTestScene({ projects: { boat }, timings, environment: { HEALTH_PORT: String(await freePort()) } });
}

async function seeThrough(scene: BridgeScene, fault: Fault, when: 'while it runs' | 'before it starts'): Promise<void> {
  const { logs } = scene;
  let bridge = await scene.startBridge();
  if (when === 'before it starts') {
    await bridge.stop(WITHIN_MS);
    fault.begin(logs);
    bridge = await scene.startBridge();
  }
  const worker = new Conversation(scene, 'boat', 2, 'work');
  await worker.start();
  if (when === 'while it runs') fault.begin(logs);

  const failing = new Conversation(scene, 'boat', 1, 'exit twice');
  await failing.answered(FAILURE_PARAGRAPH, WITHIN_MS);
  await worker.answered('worked through', WITHIN_MS);
  expect(worker.starts()).toHaveLength(1);
  expect(failing.starts(failing.revival)).toHaveLength(1);

  await scene.until('closed incidents', async () => (await scene.store.records.openIncidents()).length === 0);
  expect(scene.evidence.faults()).toEqual([]);
  await bridge.says('is kept in Redis until its file can be written');
  expect(await readiness(bridge)).toMatchObject({ status: 503, text: expect.stringContaining('critical events wait') });
  const doctor = await scene.run(['doctor'], { PATH: pathWith('git', 'sh') });
  expect(doctor.exit?.code).toBe(1);
  expect(doctor.stdout).toMatch(/FAULT +critical events: 8 lines could not be written/);
  expect(scene.github.issues()[0]?.body).toContain('The log of critical events could not be written');

  fault.end(logs);
  const owed = STEPS.flat().length;
  await scene.until('the lines that were owed', () => scene.evidence.criticalEvents().length === owed, WITHIN_MS);
  expect([failing.session, failing.revival].map((session) => failing.events(session).map(stepOf))).toEqual(STEPS);
  await scene.until('a bridge that is ready', async () => (await readiness(bridge)).status === 200, WITHIN_MS);
}

async function readiness(bridge: Program): Promise<{ status: number; text: string }> {
  const url = /health is served at (\S+readyz)/.exec(bridge.stderr)?.[1];
  if (url === undefined) throw new Error('the bridge does not say where it tells its health');
  const answer = await fetch(url);
  return { status: answer.status, text: await answer.text() };
}
