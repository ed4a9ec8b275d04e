/** What was folded of a kept copy is looked at in its place, and says the same; if it may not, it is left alone. */
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { keepSession } from '../../../memory/keeping/keep.js';
import { observe, observeKept } from '../../../memory/observed/sources.js';
import { FOLD_FILE, FOLD_VERSION } from '../../../memory/observed/storedFold.js';
import { contentDigest } from '../../../src/journal/digest.js';
import { createRedactor } from '../../../src/log/redact.js';
import { RECORDED } from '../../src/transcripts/told.js';
import { plain } from '../observed/plain.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const RECORDINGS = join(RECORDED, 'claude');
const recorded = readdirSync(RECORDINGS).filter((name) => name.endsWith('.jsonl'));
const ID = '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a11';
const WORDS = 'words that no transcript has';

let scene: MemoryScene;
let programs: string;
let project: string;
let id: string;

beforeEach(() => {
  scene = memoryScene();
  programs = join(scene.directory, '..', 'person');
  project = join(programs, '.claude/projects/-home-me-popoto');
  mkdirSync(project, { recursive: true });
  const memory = open();
  const { log, id: name } = memory.lifecycle.begin(memory.workspace, {
    ...{ purpose: 'x', fields: {}, plan: [], concurrent: false },
  });
  const line = { event: 'conversation', provider: 'claude', conversation: ID, source: 'bind', since: null };
  log.write(() => [line], memory.stamp);
  id = name;
});

const open = () => scene.open({ HOME: programs });
const stored = () => join(open().which(id).folder, FOLD_FILE);
const copy = () => join(open().which(id).folder, 'tool_use.jsonl');

async function keep(recording: string): Promise<void> {
  cpSync(join(RECORDINGS, recording), join(project, `${ID}.jsonl`));
  const memory = open();
  await keepSession(memory, memory.which(id), Number.POSITIVE_INFINITY);
}

/** What a reader of the session sees, with its transcript or without it. */
async function seen(withTranscript = false) {
  const memory = open();
  const { folder, log } = memory.which(id);
  const session = { folder, log: log.state, workspace: memory.workspaceOf(log.state) };
  const options = { folders: { HOME: programs }, redact: createRedactor([]) };
  const { fold } = await (withTranscript ? observe(session, options) : observeKept(session));
  return fold === null ? null : JSON.parse(JSON.stringify(plain(fold)));
}

/** Somebody looks into it: the file alone says so. */
function mark(): void {
  const fold = JSON.parse(readFileSync(stored(), 'utf8'));
  writeFileSync(stored(), JSON.stringify({ ...fold, plain: { ...fold.plain, lastWords: WORDS } }));
}

test.each(recorded)('%s: what is stored says what the copy says', async (recording) => {
  await keep(recording);
  const fold = await seen();
  expect(await seen(true)).toEqual(fold);
  mark();
  for (const withTranscript of [false, true]) expect(await seen(withTranscript)).toEqual({ ...fold, lastWords: WORDS });
  rmSync(stored());
  for (const withTranscript of [false, true]) expect(await seen(withTranscript)).toEqual(fold);
});

test.each<[string, () => void]>([
  ['the copy has grown', () => appendFileSync(copy(), '\n')],
  ['the copy was edited', () => utimesSync(copy(), 1, 1)],
  [
    'the conversation has moved on',
    () => {
      const memory = open();
      const line = { event: 'conversation_moved', provider: 'claude', conversation: ID };
      memory.which(id).log.write(() => [line], memory.stamp);
    },
  ],
  ['it is cut off', () => writeFileSync(stored(), readFileSync(stored(), 'utf8').slice(0, 100))],
  ['it is no JSON', () => writeFileSync(stored(), Buffer.from([0, 255, 10]))],
  ['it says nothing', () => writeFileSync(stored(), '{}')],
  ['it is a folder', () => [rmSync(stored()), mkdirSync(stored())]],
])('what is stored is left alone if %s', async (_, change) => {
  await keep('deeds.jsonl');
  mark();
  expect((await seen())?.lastWords).toBe(WORDS);
  change();
  expect((await seen())?.lastWords).not.toBe(WORDS);
});

test('it is written once, and again if it is gone', async () => {
  await keep('deeds.jsonl');
  const before = [statSync(stored()).mtimeMs, readFileSync(stored(), 'utf8')];
  await keep('deeds.jsonl');
  expect([statSync(stored()).mtimeMs, readFileSync(stored(), 'utf8')]).toEqual(before);
  rmSync(stored());
  await keep('deeds.jsonl');
  expect(readFileSync(stored(), 'utf8')).toBe(before[1]);
});

test('a change of what is made of the same lines has its own version', async () => {
  await keep('deeds.jsonl');
  // If this fails, raise FOLD_VERSION: what older programs have stored says something else now.
  expect([FOLD_VERSION, contentDigest(JSON.stringify(await seen()))]).toEqual([1, 'd70d9a996b6ab9a9']);
});
