/** What was folded of a kept copy is looked at in its place, and says the same; if it may not, it is left alone. */
import {
  appendFileSync,
  cpSync,
  existsSync,
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
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { keepSession } from '../../../memory/keeping/keep.js';
import { rebuildSession } from '../../../memory/keeping/rebuild.js';
import { readSeal } from '../../../memory/observed/keptCopy.js';
import { Observed } from '../../../memory/observed/observed.js';
import { observe, observeKept } from '../../../memory/observed/sources.js';
import { FOLD_FILE, FOLD_VERSION, storeFold } from '../../../memory/observed/storedFold.js';
import { contentDigest } from '../../../src/journal/digest.js';
import type { JournalRecord } from '../../../src/journal/record.js';
import { createRedactor } from '../../../src/log/redact.js';
import { at, linesOf, RECORDED } from '../../src/transcripts/told.js';
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
  const line = worklogKind.line('conversation', { provider: 'claude', conversation: ID, source: 'bind', since: null });
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

const keyOfStored = () => JSON.parse(readFileSync(stored(), 'utf8')).key;

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
      const line = worklogKind.line('conversation_moved', { provider: 'claude', conversation: ID });
      memory.which(id).log.write(() => [line], memory.stamp);
    },
  ],
  ['it is cut off', () => writeFileSync(stored(), readFileSync(stored(), 'utf8').slice(0, 100))],
  ['it is no JSON', () => writeFileSync(stored(), Buffer.from([0, 255, 10]))],
  ['it says nothing', () => writeFileSync(stored(), '{}')],
  ['it says only what it is of', () => writeFileSync(stored(), JSON.stringify({ key: keyOfStored() }))],
  [
    'it has no lists',
    () => writeFileSync(stored(), JSON.stringify({ ...JSON.parse(readFileSync(stored(), 'utf8')), todos: {} })),
  ],
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

test('of two that keep at once, the one that was overtaken stores nothing that is taken for what the other has kept', async () => {
  await keep('deeds.jsonl');
  const memory = open();
  const session = memory.which(id);
  const overtaken = new Observed();
  for (const line of await linesOf(join(RECORDINGS, 'work.jsonl'))) overtaken.take(line);
  const place = {
    id,
    folder: session.folder,
    log: session.log.state,
    workspace: memory.workspaceOf(session.log.state),
  };
  const seal = readSeal(copy());
  if (seal === null) throw new Error('nothing was kept');
  storeFold(memory.places, place, { ...seal, digest: 'of the copy that was replaced' }, overtaken);
  const fold = await seen();
  rmSync(stored());
  expect(await seen()).toEqual(fold);
});

test('a rebuild reads the copy itself, and stores what follows from it', async () => {
  await keep('deeds.jsonl');
  const before = await seen();
  mark();
  const memory = open();
  await rebuildSession(memory, memory.which(id));
  expect(await seen()).toEqual(before);
  expect(existsSync(stored())).toBe(true);
});

test('nothing is stored of a session without lines, and what lies there without a copy is no fold', async () => {
  await keep('deeds.jsonl');
  rmSync(copy());
  writeFileSync(stored(), JSON.stringify({ key: null }));
  expect(await seen()).toBeNull();
});

/** What no recording has. */
const MORE: readonly JournalRecord[] = [
  { event: 'compaction' },
  { event: 'pre_tool_use', tool_use_id: 'a', tool_name: 'Agent' },
  { event: 'pre_tool_use', tool_use_id: 'b', tool_name: 'Agent', agent_id: 'one', parent_tool_use_id: 'a' },
  { event: 'assistant_message', agent_id: 'two', parent_tool_use_id: 'b', text: 'x' },
  worklogKind.line('wait_start', { kind: 'permission' }),
  { event: 'files', changed: ['e'], more: 2 },
  { event: 'pre_tool_use', tool_use_id: 'c', tool_name: 'Bash', tool_input: { command: 'git commit -am y' } },
  { event: 'post_tool_use', tool_use_id: 'c', outcome: 'ok', tool_output_preview: '[main 1a2b3c4] y' },
  { event: 'pre_tool_use', tool_use_id: 'd', tool_name: 'Bash', tool_input: { command: 'echo 1 > f' } },
  { event: 'post_tool_use', tool_use_id: 'd', outcome: 'ok' },
  { event: 'turn_end', reason: 'end_turn' },
  { event: 'pre_tool_use', tool_use_id: 'e', tool_name: 'Bash', tool_input: { command: 'make > g' } },
  { event: 'post_tool_use', tool_use_id: 'e', outcome: 'ok', in_background: true },
  { event: 'files', modified: ['a'], renamed: [{ from: 'a', to: 'b' }], created: ['c'], deleted: ['c'] },
].map((line, second) => ({ v: 1, timestamp: at(second), ...line }));

test('a change of what is made of the same lines has its own version', async () => {
  const told: unknown[] = [];
  for (const program of ['claude', 'codex'])
    for (const name of readdirSync(join(RECORDED, program)).filter((each) => each.endsWith('.jsonl'))) {
      const fold = new Observed();
      for (const line of [...(await linesOf(join(RECORDED, program, name))), ...MORE]) fold.take(line);
      told.push(plain(fold));
    }
  // If this fails, raise FOLD_VERSION: what older programs have stored says something else now.
  expect([FOLD_VERSION, contentDigest(JSON.stringify(told))]).toEqual([14, 'fce945aac13fad0e']);
});
