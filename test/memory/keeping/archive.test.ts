// covers: memory/sessions/place.ts memory/keeping/verify.ts memory/workspaces/claims.ts memory/home/places.ts
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { archiveSession, dueSessions, unarchiveSession } from '../../../memory/keeping/archive.js';
import { verifySession } from '../../../memory/keeping/verify.js';
import { Log } from '../../../memory/logs/log.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import { moveToPlace, placeOf } from '../../../memory/sessions/place.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { compiledProgram } from '../../../src/host/program.js';
import { DAY } from '../../../src/time.js';
import { afterThisTest } from '../../harness/scope.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const KEEPER = compiledProgram('test/memory/keeping/keeperMain');
const begin = (memory: Memory, purpose: string) =>
  memory.lifecycle.begin(memory.workspace, { purpose, fields: {}, plan: [], concurrent: false });
const yearOf = (scene: MemoryScene) => String(new Date(scene.clock.now()).getUTCFullYear());
const faultsOf = (memory: Memory, id: string) => verifySession(memory, memory.which(id)).filter(({ ok }) => !ok);

/** The command line, in a process that is killed at the named instant. */
function keep({ home, directory }: MemoryScene, args: readonly string[], failpoint = '') {
  return spawnSync(process.execPath, [compiledProgram('bridge/cli/main'), 'work', ...args], {
    cwd: directory,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, WATCHKEEPER_HOME: home, ...(failpoint && { WATCHKEEPER_FAILPOINT: failpoint }) },
  });
}

test('an archived session is in the folder of its year, is found there, and frees its directory', () => {
  const scene = memoryScene();
  const memory = scene.open();
  const session = begin(memory, 'Fix it');
  const folder = archiveSession(memory, session);
  expect(folder).toBe(join(scene.home, 'archive', yearOf(scene), session.id));
  expect(readdirSync(join(scene.home, 'sessions'))).toEqual([]);
  expect(scene.open().which(session.id).folder).toBe(folder);
  expect(memory.claims.read(memory.workspace)?.holder).toBeNull();
  expect(archiveSession(scene.open(), scene.open().which(session.id))).toBe(folder);
  expect(scene.open().which(session.id).log.counts.lines).toBe(2);
  // Its id stays its own.
  expect(begin(scene.open(), 'Fix it').id).toBe(`${session.id}-2`);
});

test('the way back changes nothing of the log but its own lines, and an unfinished session holds its directory again', () => {
  const scene = memoryScene();
  const memory = scene.open();
  const session = begin(memory, 'x');
  const before = readFileSync(join(session.folder, 'worklog.jsonl'), 'utf8');
  archiveSession(memory, session);
  const folder = unarchiveSession(scene.open(), scene.open().which(session.id));
  expect(folder).toBe(session.folder);
  const lines = readFileSync(join(folder, 'worklog.jsonl'), 'utf8');
  expect(lines.startsWith(before)).toBe(true);
  expect(lines.slice(before.length).match(/"event":"[a-z_]+"/g)).toEqual([
    '"event":"session_archived"',
    '"event":"session_unarchived"',
  ]);
  expect(scene.open().holder()?.id).toBe(session.id);
  expect(faultsOf(scene.open(), session.id)).toEqual([]);
});

test('a session stays in the archive if another one holds its directory meanwhile', () => {
  const scene = memoryScene();
  const memory = scene.open();
  const first = begin(memory, 'first');
  const place = archiveSession(memory, first);
  const second = begin(scene.open(), 'second');
  expect(() => unarchiveSession(scene.open(), scene.open().which(first.id))).toThrow(new RegExp(second.id));
  expect(scene.open().which(first.id).folder).toBe(place);
  expect(scene.open().holder()?.id).toBe(second.id);
});

test('the run of the caller is no hindrance, that of somebody else is', () => {
  const scene = memoryScene();
  const session = begin(scene.open(), 'x');
  const run = readProcessIdentity('host', process.ppid);
  session.log.write(() => [worklogKind.line('run_started', { process: run })], scene.open().stamp);
  expect(() => archiveSession(scene.open(), session)).toThrow(/works on session/);
  expect(archiveSession(scene.open({ CLAUDE_PID: String(process.ppid) }), session)).toContain('/archive/');
});

test('who moves the folder when somebody else has decided otherwise moves it back', () => {
  const scene = memoryScene();
  const { id } = begin(scene.open(), 'x');
  const late = scene.open().which(id);
  late.log.write(() => [worklogKind.line('session_archived', {})], scene.open().stamp);
  const other = scene.open().sessions.read(id);
  const log = Log.open(join(other?.folder ?? '', 'worklog.jsonl'), worklogKind);
  log?.write(() => [worklogKind.line('session_unarchived', {})], scene.open().stamp);
  expect(moveToPlace(late, scene.open().places)).toBe(join(scene.home, 'sessions', id));
  expect(readdirSync(join(scene.home, 'sessions'))).toEqual([id]);
});

test('a session on which another live run works is not archived', async () => {
  const scene = memoryScene();
  const session = begin(scene.open(), 'x');
  const agent = spawn('sleep', ['600'], { stdio: 'ignore' });
  afterThisTest(() => void agent.kill('SIGKILL'));
  const run = readProcessIdentity('host', agent.pid);
  session.log.write(() => [worklogKind.line('run_started', { process: run })], scene.open().stamp);
  expect(() => archiveSession(scene.open(), session)).toThrow(`process ${agent.pid} works on session ${session.id}`);
  expect(session.log.state.archived).toBeNull();
  const exited = once(agent, 'exit');
  agent.kill('SIGKILL');
  await exited;
  expect(archiveSession(scene.open(), session)).toContain('/archive/');
});

test('what is in the place already is not overwritten, and the session says that it could not move', () => {
  const scene = memoryScene();
  const memory = scene.open();
  const session = begin(memory, 'x');
  const other = join(scene.home, 'archive', yearOf(scene), session.id);
  mkdirSync(other, { recursive: true });
  writeFileSync(join(other, 'mine'), 'kept');
  expect(() => archiveSession(memory, session)).toThrow(/something else is there/);
  expect(readFileSync(join(other, 'mine'), 'utf8')).toBe('kept');
  expect(faultsOf(scene.open(), session.id).map(({ check }) => check)).toEqual(['place']);
});

test('the folder is in the year of the decision, also if the move is made in the next one', async () => {
  const scene = memoryScene();
  const session = begin(scene.open(), 'x');
  await scene.clock.advance(400 * DAY);
  session.log.write(() => [worklogKind.line('session_archived', {})], scene.open().stamp);
  const year = yearOf(scene);
  await scene.clock.advance(400 * DAY);
  expect(scene.open().which(session.id).folder).toBe(join(scene.home, 'archive', year, session.id));
});

test('a writer that has the worklog open while its folder moves finds its line, which is judged like any other', async () => {
  const scene = memoryScene();
  const session = begin(scene.open(), 'x');
  const writer = spawn(process.execPath, [KEEPER, session.folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(writer.stdout, 'data');
  const folder = archiveSession(scene.open(), scene.open().which(session.id));
  writer.stdin.end('write\n');
  const [said] = (await once(writer.stdout, 'data')) as [Buffer];
  await once(writer, 'close');
  expect(JSON.parse(said.toString())).toEqual([null, 'archived']);
  expect(existsSync(session.folder)).toBe(false);
  const { log } = scene.open().which(session.id);
  expect(log.state.notes.map(({ text }) => text)).toEqual(['late']);
  expect(log.counts).toMatchObject({ refused: 1, unreadable: 0 });
  expect(readFileSync(join(folder, 'worklog.jsonl'), 'utf8')).toContain('"message":"late"');
});

test.each([
  ['before it is decided', 'log.append.before:kill:1', 'active'],
  ['after it is decided', 'log.append.after:kill:1', 'archived'],
  ['before the claim is released', 'log.append.before:kill:2', 'archived'],
  ['before the folder moves', 'log.append.after:kill:2', 'archived'],
])('killed %s, the next command finishes it, and the check finds no fault', (_, failpoint, then) => {
  const scene = memoryScene();
  const { id } = begin(scene.open(), 'x');
  expect(keep(scene, ['archive', id], failpoint).signal).toBe('SIGKILL');
  expect(existsSync(join(scene.home, 'sessions', id))).toBe(true);
  const verified = keep(scene, ['verify', id]);
  expect([verified.status, verified.stdout]).toEqual([0, expect.not.stringContaining('FAULTY')]);
  expect(existsSync(join(scene.home, 'sessions', id))).toBe(then === 'active');
  expect(scene.open().holder()?.id ?? null).toBe(then === 'active' ? id : null);
});

test('killed on the way back before the claim, the next command moves the folder', () => {
  const scene = memoryScene();
  const memory = scene.open();
  const { id } = begin(memory, 'x');
  archiveSession(memory, memory.which(id));
  expect(keep(scene, ['unarchive', id], 'log.append.after:kill:1').signal).toBe('SIGKILL');
  expect(keep(scene, ['verify', id]).status).toBe(0);
  expect(existsSync(join(scene.home, 'sessions', id))).toBe(true);
  expect(existsSync(join(scene.home, 'archive', yearOf(scene), id))).toBe(false);
});

test('processes that archive and bring back one session at once leave it in one place, where its worklog says', async () => {
  const scene = memoryScene();
  const memory = scene.open();
  const { id } = begin(memory, 'x');
  memory.lifecycle.end(memory.which(id), memory.workspace, { lines: () => [], reason: 'completed' });
  const kinds = ['archive', 'archive', 'unarchive', 'archive'];
  const codes = await Promise.all(
    kinds.map(async (kind) => {
      const child = spawn(process.execPath, [KEEPER, scene.home, scene.directory, id, kind, '40'], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      return (await once(child, 'close'))[0];
    }),
  );
  expect(codes).toEqual([0, 0, 0, 0]);
  const session = scene.open().which(id);
  expect(session.folder).toBe(placeOf(id, session.log.state, scene.open().places));
  expect(faultsOf(scene.open(), id)).toEqual([]);
});

test('a session is due after 30 days without activity, unless its run may live', async () => {
  const scene = memoryScene();
  const { id } = begin(scene.open(), 'old');
  const busy = begin(scene.open({}, '/'), 'busy');
  busy.log.write(() => [worklogKind.line('run_started', { process: readProcessIdentity('host') })], scene.open().stamp);
  await scene.clock.advance(30 * DAY - 1);
  expect(dueSessions(scene.open())).toEqual([]);
  await scene.clock.advance(1);
  expect(dueSessions(scene.open())).toEqual([id]);
});

test('the sessions of a bridge are not archived by hand: they expire with their journals', () => {
  const scene = memoryScene();
  const session = begin(scene.open(), 'x');
  writeFileSync(join(scene.home, 'watchdog.id'), '01K00000000000000000000000\n');
  expect(() => archiveSession(scene.open(), session)).toThrow(/logs folder of a bridge/);
});

test('the check names lines that nobody can read', () => {
  const scene = memoryScene();
  const session = begin(scene.open(), 'x');
  writeFileSync(join(session.folder, 'worklog.jsonl'), 'torn\n', { flag: 'a' });
  expect(faultsOf(scene.open(), session.id)).toEqual([{ check: 'worklog', ok: false, found: '2 lines, 1 unreadable' }]);
});
