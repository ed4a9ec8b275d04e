/** A note on a session saves the next look at it, and nothing else: it holds only while what it was made from stays. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { weighedHere } from '../../../memory/look/unfinished.js';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import { endRun } from '../../../memory/programs/runEnd.js';
import { Memory } from '../../../memory/sessions/memory.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { asks, says } from '../../src/transcripts/told.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const HERE = readProcessIdentity('host');

/** A question that is answered. @returns the id of its session */
function answered(scene: MemoryScene, conversation: string, hasEnded: boolean): string {
  const agent = { ...HERE, pid_start: conversation };
  const transcript = join(scene.home, '..', `${conversation}.jsonl`);
  writeFileSync(
    transcript,
    [asks(0, 'What?'), says(1, 'That.', 'end_turn')].map((each) => `${JSON.stringify(each)}\n`).join(''),
  );
  const memory = scene.open();
  const launch = { provider: 'claude', conversation, source: 'startup', transcript, agent, launchedIn: null } as const;
  const { session } = startConversation(memory, launch);
  if (hasEnded) endRun(memory, session, agent, 'prompt_input_exit');
  session.log.close();
  return session.id;
}

/** @returns the ids that were looked at, with what each weighs */
async function looksOf(memory: Memory) {
  const look = jest.spyOn(memory, 'look');
  const { gone } = await weighedHere(memory, memory.workspace);
  const looked = look.mock.calls.map(([id]) => id).sort();
  return { looked, weights: gone.map(({ id, weight }) => [id, weight]) };
}

test('each is looked at once, and again when its worklog has grown', async () => {
  const scene = memoryScene();
  const ids = ['c1', 'c2', 'c3'].map((name) => answered(scene, name, true));
  expect((await looksOf(scene.open())).looked).toEqual([...ids].sort());
  const { looked, weights } = await looksOf(scene.open());
  expect(looked).toEqual([]);
  expect(weights.map(([, weight]) => weight)).toEqual(['rests', 'rests', 'rests']);

  const [first = ''] = ids;
  scene.open().sessions.addFacts(first, [worklogKind.line('note', { text: 'mind the cache' })]);
  const after = await looksOf(scene.open());
  expect([after.looked, after.weights[0]]).toEqual([[first], [first, 'declared']]);
});

test('a crash of a window that had answered is none any more after its host was started again', async () => {
  const scene = memoryScene();
  const id = answered(scene, 'c1', false);
  expect((await looksOf(scene.open())).weights).toEqual([[id, 'crashed']]);
  expect((await looksOf(scene.open())).looked).toEqual([]);
  const process: ProcessIdentity = { ...HERE, boot_id: 'the-next-boot' };
  const { clock, surroundings, stamp } = scene.open();
  const later = new Memory({ surroundings: { ...surroundings, process }, folder: null, clock, redact: stamp.redact });
  expect((await looksOf(later)).weights).toEqual([[id, 'rests']]);
});
