// covers: memory/keeping/copyFile.ts memory/keeping/digests.ts memory/observed/keptCopy.ts memory/observed/shares.ts memory/observed/programFolders.ts

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { archiveSession } from '../../../memory/keeping/archive.js';
import { keepSession } from '../../../memory/keeping/keep.js';
import { verifySession } from '../../../memory/keeping/verify.js';
import { listSessions } from '../../../memory/look/list.js';
import { lookAt } from '../../../memory/look/look.js';
import { checkCopy, readSeal } from '../../../memory/observed/keptCopy.js';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { compiledProgram, packageRoot } from '../../../src/host/program.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const FIXTURES = join(packageRoot(), 'test/fixtures/transcripts/claude');
const ID = '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a11';
const FOREVER = Number.POSITIVE_INFINITY;
const conversation = worklogKind.line('conversation', {
  provider: 'claude',
  conversation: ID,
  source: 'bind',
  since: null,
});

let scene: MemoryScene;
let programs: string;
let transcript: string;
let id: string;

/** A person who has used Claude Code in a session. */
beforeEach(() => {
  scene = memoryScene();
  programs = join(scene.directory, '..', 'person');
  const project = join(programs, '.claude/projects/-home-me-popoto');
  mkdirSync(project, { recursive: true });
  transcript = join(project, `${ID}.jsonl`);
  cpSync(join(FIXTURES, 'deeds.jsonl'), transcript);
  cpSync(join(FIXTURES, 'deeds'), join(project, ID), { recursive: true });
  const memory = open();
  const { log, id: name } = memory.lifecycle.begin(memory.workspace, {
    purpose: 'x',
    fields: {},
    plan: [],
    concurrent: false,
  });
  log.write(() => [conversation], memory.stamp);
  id = name;
});

const open = () => scene.open({ HOME: programs });
const folderOf = (memory: Memory) => memory.which(id).folder;
const copy = () => join(folderOf(open()), 'tool_use.jsonl');
const keep = (memory = open()) => keepSession(memory, memory.which(id), FOREVER);
const faults = () => verifySession(open(), open().which(id)).filter(({ ok }) => !ok);

/** What a reader of the session sees, but for where it was read and what was kept. */
async function shown() {
  const { state } = await lookAt(open(), open().which(id));
  const { observed: _, at, files, ...rest } = state as { observed: unknown; at: unknown; files: object };
  return { ...rest, files: Object.keys(files) };
}

test('the copy shows what the transcripts showed, also after they are gone, and is whole', async () => {
  const before = await shown();
  expect(await keep()).toMatchObject({ kept: 'written', conversations: 1 });
  rmSync(programs, { recursive: true });
  expect(await shown()).toEqual(before);
  expect((await lookAt(open(), open().which(id))).state).toMatchObject({ observed: 'journal' });
  expect(faults()).toEqual([]);
});

test('session.md has the files that were observed, also those that somebody declared', async () => {
  const memory = open();
  const declared = worklogKind.line('file', { path: '/home/me/popoto/made.txt', to: 'done' });
  memory.which(id).log.write(() => [declared], memory.stamp);
  await keep();
  const [, files = ''] = readFileSync(join(folderOf(open()), 'session.md'), 'utf8').split('\n## Files\n');
  expect(files.split('\n')).toEqual(
    expect.arrayContaining(['- /home/me/popoto/keep.txt: modified', '- /home/me/popoto/made.txt: created, done']),
  );
});

test('the same input gives the same bytes, and writes nothing a second time', async () => {
  await keep();
  const [bytes, worklog] = [copy(), join(folderOf(open()), 'worklog.jsonl')].map((path) => readFileSync(path, 'utf8'));
  expect(await keep()).toMatchObject({ kept: 'unchanged' });
  expect(readFileSync(join(folderOf(open()), 'worklog.jsonl'), 'utf8')).toBe(worklog);
  rmSync(copy());
  expect(faults().map(({ check, found }) => `${check}: ${found}`)).toEqual([
    expect.stringMatching(/^copy: .* is gone$/),
  ]);
  await keep();
  expect(readFileSync(copy(), 'utf8')).toBe(bytes);
});

test('what was made from more input is left alone: a transcript that is gone or cut off, beside one that goes on', async () => {
  await keep();
  const whole = readFileSync(copy(), 'utf8');
  truncateSync(transcript, 3_000);
  expect(await keep()).toMatchObject({ kept: 'unchanged' });
  expect(readFileSync(copy(), 'utf8')).toBe(whole);
  rmSync(transcript);
  const other = `${ID.slice(0, -1)}2`;
  const lines = readFileSync(join(FIXTURES, 'deeds.jsonl'), 'utf8').replaceAll(ID, other);
  writeFileSync(transcript.replace(ID, other), lines);
  const memory = open();
  memory.which(id).log.write(() => [{ ...conversation, conversation: other }], memory.stamp);
  expect(await keep()).toMatchObject({ kept: 'written', conversations: 2 });
  expect(readFileSync(copy(), 'utf8').startsWith(whole.slice(0, whole.lastIndexOf('{"v":1,"event":"kept"')))).toBe(
    true,
  );
  expect(readSeal(copy())?.sources.map((source) => source.conversation)).toEqual([ID, other]);
  expect(faults()).toEqual([]);
});

test('what was kept stays if something else is in the place of its transcript, however large', async () => {
  await keep();
  const before = readSeal(copy());
  const lines = readFileSync(copy(), 'utf8').split('\n').slice(0, -2);
  writeFileSync(transcript, `${'not a line of a transcript\n'.repeat(100_000)}`);
  const other = '0a0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a11';
  cpSync(join(FIXTURES, 'deeds.jsonl'), join(transcript, '..', `${other}.jsonl`));
  const memory = open();
  memory.which(id).log.write(() => [{ ...conversation, conversation: other }], memory.stamp);
  expect(await keep()).toMatchObject({ kept: 'written', conversations: 2 });
  expect(readFileSync(copy(), 'utf8').split('\n').slice(0, lines.length)).toEqual(lines);
  expect(readSeal(copy())?.sources[0]).toEqual(before?.sources[0]);
  expect((await keep()).kept).toBe('unchanged');
  expect(faults()).toEqual([]);
  // The transcript is there again, and goes on.
  cpSync(join(FIXTURES, 'deeds.jsonl'), transcript);
  expect((await keep()).kept).toBe('unchanged');
});

test('touched files have their digests in the state, and the line is no activity', async () => {
  writeFileSync(join(scene.directory, 'a.ts'), 'one');
  const memory = open();
  memory.which(id).log.write(() => [worklogKind.line('file', { path: 'a.ts', to: 'done' })], memory.stamp);
  const before = memory.which(id).log.state.last_activity;
  await scene.clock.advance(1_000);
  await keep();
  const { log } = open().which(id);
  const digest = createHash('sha256').update('one').digest('hex');
  expect((await lookAt(open(), open().which(id))).state.files).toMatchObject({ 'a.ts': { status: 'done', digest } });
  expect(log.state.last_activity).toBe(before);
  expect(JSON.parse(readFileSync(join(folderOf(open()), 'state.json'), 'utf8'))).toMatchObject({
    files: { 'a.ts': { digest } },
  });
});

test('without texts no word of a prompt or an answer is below the home, also of what was kept before', async () => {
  const said = ['do the work', 'Reading.', 'SUBTASK ONE', 'SUBTASK TWO', 'deep done', 'All of it is done.'];
  const everything = () => {
    const paths = readdirSync(scene.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return paths.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')).join('\n');
  };
  await keep();
  expect(said.filter((word) => everything().includes(word))).toEqual(said);
  writeFileSync(join(scene.home, 'settings.json'), '{"texts":false}');
  rmSync(transcript);
  await keep();
  expect(said.filter((word) => everything().includes(word))).toEqual([]);
  expect(faults()).toEqual([]);
});

test('without texts what was asked first is shown while the transcript is there, and not after', async () => {
  mkdirSync(scene.home, { recursive: true });
  writeFileSync(join(scene.home, 'settings.json'), '{"texts":false}');
  const asked = async () => (await lookAt(open(), open().which(id))).fold?.firstPrompt ?? null;
  const before = await asked();
  expect(before).toMatch(/do the work/);
  await keep();
  expect(await asked()).toBe(before);
  // As with a copy of an older version.
  rmSync(join(folderOf(open()), 'observed.json'));
  expect(await asked()).toBe(before);
  rmSync(transcript);
  expect(await asked()).toBeNull();
});

test('without texts a list, too, has what a session was asked of which nobody has declared the purpose', async () => {
  mkdirSync(scene.home, { recursive: true });
  writeFileSync(join(scene.home, 'settings.json'), '{"texts":false}');
  const memory = open();
  const launch = { provider: 'claude', conversation: 'c-9', source: 'fork', agent: null, launchedIn: null } as const;
  const { session } = startConversation(memory, { ...launch, transcript });
  session.log.close();
  await keepSession(memory, memory.which(session.id), scene.clock.now() + 60_000);
  const listed = await listSessions(open(), {
    where: 'everywhere',
    which: 'all',
    judge: async () => null,
    onUnreadable: () => undefined,
  });
  expect(listed.rows.find(({ session_id }) => session_id === session.id)?.purpose).toMatch(/do the work/);
});

test('a file of somebody else is not overwritten, and the failure is named by the check', async () => {
  writeFileSync(copy(), '{"mine":true}\n');
  await expect(keep()).rejects.toThrow(/is no copy of transcripts/);
  expect(readFileSync(copy(), 'utf8')).toBe('{"mine":true}\n');
  expect(faults()).toMatchObject([{ check: 'copy', found: expect.stringContaining('the last attempt failed') }]);
  rmSync(copy());
  await keep();
  expect(faults()).toEqual([]);
});

test('a copy that somebody has changed is found, and made anew while there is what it was made from', async () => {
  await keep();
  const whole = readFileSync(copy(), 'utf8');
  writeFileSync(copy(), whole.replace('"event"', '"Event"'));
  expect(checkCopy(copy()).isWhole).toBe(false);
  expect(faults()).toMatchObject([{ check: 'copy', found: expect.stringContaining('is not whole') }]);
  await keep();
  expect(readFileSync(copy(), 'utf8')).toBe(whole);
  writeFileSync(copy(), whole.replace('"event"', '"Event"'));
  rmSync(transcript);
  await expect(keep()).rejects.toThrow(/is not whole, and a transcript that it was made from is gone/);
});

test('it gives up in time, says so, and leaves the old copy', async () => {
  await expect(keepSession(open(), open().which(id), scene.clock.now())).rejects.toThrow(/took too long/);
  expect(readdirSync(folderOf(open())).filter((name) => name.includes('tool_use'))).toEqual([]);
  expect(open().which(id).log.state.kept?.failure).toBe('it took too long');
});

test.each([
  ['before the copy is in place', 'keep.copy.before:kill:1', 'old'],
  ['after the copy is in place', 'keep.copy.after:kill:1', 'new'],
  ['before the line', 'log.append.before:kill:1', 'new'],
  ['after the line', 'log.append.after:kill:1', 'new'],
])('killed %s, a whole copy is there, and the next attempt finishes it', async (_, failpoint, which) => {
  await keep();
  const old = readFileSync(copy(), 'utf8');
  appendFileSync(transcript, readFileSync(join(FIXTURES, 'deeds.jsonl'), 'utf8').split('\n')[0]?.concat('\n') ?? '');
  const killed = spawnSync(process.execPath, [compiledProgram('bridge/cli/main'), 'work', 'keep', id], {
    cwd: scene.directory,
    env: { PATH: process.env.PATH, HOME: programs, WATCHKEEPER_HOME: scene.home, WATCHKEEPER_FAILPOINT: failpoint },
  });
  expect(killed.signal).toBe('SIGKILL');
  expect(readFileSync(copy(), 'utf8') === old).toBe(which === 'old');
  expect(checkCopy(copy()).isWhole).toBe(true);
  expect(faults()).toEqual([]);
  await keep();
  expect(open().which(id).log.state.kept?.copy?.digest).toBe(checkCopy(copy()).digest);
});

test('several at once leave one whole copy, also while the session goes into the archive', async () => {
  const args = [compiledProgram('bridge/cli/main'), 'work', 'keep', id];
  const env = { PATH: process.env.PATH, HOME: programs, WATCHKEEPER_HOME: scene.home };
  const children = [1, 2, 3].map(() => spawn(process.execPath, args, { cwd: scene.directory, env, stdio: 'ignore' }));
  archiveSession(open(), open().which(id));
  await Promise.all(children.map((child) => once(child, 'close')));
  await keep();
  expect(folderOf(open())).toContain('/archive/');
  expect(existsSync(join(scene.home, 'sessions', id))).toBe(false);
  expect(checkCopy(copy()).isWhole).toBe(true);
  expect(faults()).toEqual([]);
}, 60_000);

test('it says whether the agent may still write more', async () => {
  const memory = open();
  const alive = worklogKind.line('run_started', { process: readProcessIdentity('host') });
  memory.which(id).log.write(() => [alive], memory.stamp);
  await keep();
  expect(open().which(id).log.state.kept?.complete).toBe(false);
  memory.which(id).log.write(() => [{ ...alive, event: 'run_ended' }], memory.stamp);
  expect(await keep()).toMatchObject({ kept: 'written' });
  expect(open().which(id).log.state.kept?.complete).toBe(true);
});
