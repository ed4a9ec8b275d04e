/** A logs folder that takes nothing any more: recovery goes on, everybody is told, and no line is lost or claimed. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { freePort } from '../harness/freePort.js';
import { afterThisTest } from '../harness/scope.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH, stepOf } from './conversation.js';
import type { Program } from './program.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene } from './testScene.js';

/** Longer than the silence that accuses, and never silent. */
const WORK: Scenario = {
  steps: [
    { do: 'repeat', times: 40, steps: [{ do: 'call', tool: 'bash', input: { step: '{{index}}' }, takes_ms: 250 }] },
    { do: 'answer', text: 'worked through' },
  ],
};
const SILENCE_MS = 6_000;
const EXITS: Scenario = { when: { message: '^exit' }, steps: [{ do: 'exit', code: 1 }] };
const TIMEOUT_MS = 120_000;
const WITHIN_MS = 40_000;
const STEPS = [
  ['detected', 'reported', 'revived', 'closed'],
  ['detected', 'reported', 'told', 'closed'],
];

/** A way in which the folder stops to take anything. */
interface Fault {
  readonly begin: (logs: string) => void;
  readonly end: (logs: string) => void;
}

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
const NO_SPACE: Fault = {
  begin: (logs) => {
    try {
      writeFileSync(join(logs, 'filler'), Buffer.alloc(4 * 1024 * 1024));
    } catch {
      // What fits is written.
    }
  },
  end: (logs) => rmSync(join(logs, 'filler')),
};
const READ_ONLY: Fault = {
  begin: (logs) => void execFileSync('mount', ['-o', 'remount,ro', logs]),
  end: (logs) => void execFileSync('mount', ['-o', 'remount,rw', logs]),
};

const testWithMounts = mayMount() ? test : test.skip;

describeScenes('a logs folder that takes nothing', () => {
  test(
    'because its places are taken: the run goes on, another is revived and told, and each line comes later, once',
    async () => {
      const scene = await openFleet();
      await seeThrough(scene, PATHS_TAKEN, 'while it runs');
    },
    TIMEOUT_MS,
  );

  testWithMounts(
    'because its disk is full: the run goes on, another is revived and told, and each line comes later, once',
    async () => {
      const scene = await openFleet();
      onSmallDisk(scene.logs);
      await seeThrough(scene, NO_SPACE, 'while it runs');
    },
    TIMEOUT_MS,
  );

  testWithMounts(
    'because it is read-only when the bridge is started again: messages are run, revived and told all the same',
    async () => {
      const scene = await openFleet();
      onSmallDisk(scene.logs);
      await seeThrough(scene, READ_ONLY, 'before it starts');
    },
    TIMEOUT_MS,
  );

  test(
    'for journals of runs whose leases are far longer than the silence that accuses: who works or waits for a call goes on',
    async () => {
      const scene = await openPatientFleet();
      await scene.startBridge();
      writeFileSync(join(scene.logs, 'sessions'), '');
      await expectBothAnswered(scene);
    },
    TIMEOUT_MS,
  );

  testWithMounts(
    'for want of space in the middle of such runs: who works or waits for a call goes on',
    async () => {
      const scene = await openPatientFleet();
      onSmallDisk(scene.logs);
      await scene.startBridge();
      await expectBothAnswered(scene, () => NO_SPACE.begin(scene.logs));
    },
    TIMEOUT_MS,
  );

  test(
    'for the journal of a run that falls silent: it is ended and runs again all the same',
    async () => {
      const scene = await openPatientFleet();
      await scene.startBridge();
      writeFileSync(join(scene.logs, 'sessions'), '');
      const silent = new Conversation(scene, 'boat', 1, 'silent');
      await silent.answered('worked through', WITHIN_MS);
      expect(silent.starts(silent.revival)).toHaveLength(1);
    },
    TIMEOUT_MS,
  );
});

const SHORT_SILENCE_MS = 2_000;
const LONG_CALL: Scenario = {
  when: { message: '^long call' },
  steps: [
    { do: 'call', tool: 'bash', input: { step: 'first' }, takes_ms: 500 },
    { do: 'call', tool: 'bash', input: { step: 'long' }, takes_ms: 4 * SHORT_SILENCE_MS },
    { do: 'answer', text: 'worked through' },
  ],
};
const SILENT: Scenario = {
  when: { message: '^silent', attempt: 1 },
  steps: [{ do: 'call', tool: 'bash', input: { step: 'first' }, takes_ms: 500 }, { do: 'silence' }],
};

/** Its runs renew their leases every 40 s. */
async function openPatientFleet(): Promise<BridgeScene> {
  const chats = [
    { id: 1, directory: 'one' },
    { id: 2, directory: 'two' },
  ];
  const boat = { chats, scenarios: [LONG_CALL, SILENT, WORK], thresholds: { silence_ms: SHORT_SILENCE_MS } };
  return openTestScene({ projects: { boat }, timings: { runLeaseMs: 120_000 } });
}

async function expectBothAnswered(scene: BridgeScene, atWork: () => void = () => undefined): Promise<void> {
  const asked = [new Conversation(scene, 'boat', 1, 'long call'), new Conversation(scene, 'boat', 2, 'work')];
  for (const one of asked) await one.start();
  atWork();
  for (const one of asked) {
    await one.answered('worked through', WITHIN_MS);
    expect(one.starts()).toHaveLength(1);
    expect(one.starts(one.revival)).toEqual([]);
  }
  expect(await scene.store.records.openIncidents()).toEqual([]);
}

async function openFleet(): Promise<BridgeScene> {
  const chats = [
    { id: 1, directory: 'one' },
    { id: 2, directory: 'two' },
  ];
  const boat = { chats, scenarios: [EXITS, WORK], thresholds: { silence_ms: SILENCE_MS } };
  return openTestScene({ projects: { boat }, environment: { HEALTH_PORT: String(await freePort()) } });
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
  expect(scene.evidence.criticalEvents()).toEqual([]);
  await bridge.says('is kept in the store until its file takes it');
  expect(await readiness(bridge)).toMatchObject({ status: 503, text: expect.stringContaining('critical events wait') });
  const doctor = await scene.run(['doctor']);
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
  const url = /health is told at (\S+readyz)/.exec(bridge.stderr)?.[1];
  if (url === undefined) throw new Error('the bridge does not say where it tells its health');
  const answer = await fetch(url);
  return { status: answer.status, text: await answer.text() };
}

function onSmallDisk(logs: string): void {
  mkdirSync(logs);
  mountSmall(logs);
  // Lazily: the bridge has files open there until the scene stops.
  afterThisTest(() => void execFileSync('umount', ['-l', logs]));
}

function mountSmall(folder: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
}

/** Only root may mount, and in most containers not even root. */
function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'wk-mount-'));
  try {
    mountSmall(folder);
    execFileSync('umount', [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
