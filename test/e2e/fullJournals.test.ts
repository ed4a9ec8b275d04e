/** Journals that take no more lines: nobody is accused for what the disk has lost. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import type { Scenario } from './sceneFiles.js';
import { NO_SPACE, onSmallDisk, testWithMounts, WORK } from './smallDisk.js';
import { describeScenes, openTestScene } from './testScene.js';

const TIMEOUT_MS = 120_000;
const WITHIN_MS = 40_000;

describeScenes('a logs folder that cannot be written', () => {
  // rule: a-full-disk-keeps-nobody-waiting
  test(
    'for journals with leases far longer than the silence limit: runs that work or wait for a call continue',
    async () => {
      const scene = await openPatientFleet();
      await scene.startBridge();
      writeFileSync(join(scene.logs, 'sessions'), '');
      await expectBothAnswered(scene);
    },
    TIMEOUT_MS,
  );

  // rule: a-full-disk-keeps-nobody-waiting
  testWithMounts(
    'for lack of space in the middle of such runs: runs that work or wait for a call continue',
    async () => {
      const scene = await openPatientFleet();
      onSmallDisk(scene.logs);
      await scene.startBridge();
      await expectBothAnswered(scene, () => NO_SPACE.begin(scene.logs));
    },
    TIMEOUT_MS,
  );

  // rule: a-full-disk-keeps-nobody-waiting
  test(
    'for the journal of a run that falls silent: it is still ended and run again',
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
