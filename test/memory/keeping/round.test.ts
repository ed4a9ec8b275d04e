// covers: memory/keeping/copyCheck.ts memory/fold/runs.ts

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { type WorklogLine, worklogKind } from '../../../memory/fold/rules/kind.js';
import { archiveDone, unarchiveSession } from '../../../memory/keeping/archive.js';
import { sessionsBefore } from '../../../memory/keeping/purge.js';
import { keepRound } from '../../../memory/keeping/round.js';
import { verifySession } from '../../../memory/keeping/verify.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { packageRoot } from '../../../src/host/program.js';
import { DAY, HOUR } from '../../../src/time.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const FIXTURES = join(packageRoot(), 'test/fixtures/transcripts/claude');
const ID = '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a11';

let scene: MemoryScene;
let programs: string;

beforeEach(() => {
  scene = memoryScene();
  programs = join(scene.directory, '..', 'person');
  const project = join(programs, '.claude/projects/-home-me-popoto');
  mkdirSync(project, { recursive: true });
  cpSync(join(FIXTURES, 'deeds.jsonl'), join(project, `${ID}.jsonl`));
});

const open = () => scene.open({ HOME: programs });
const round = () => keepRound(open(), Number.POSITIVE_INFINITY);
const dead = () => ({ ...readProcessIdentity('host'), boot_id: 'another', pid: 1 });
const copyOf = (id: string) => join(open().which(id).folder, 'tool_use.jsonl');
const foldOf = (id: string) => join(open().which(id).folder, 'observed.json');
const toldHere = () => open().claims.read(open().workspace)?.reports;

function begin(purpose: string, lines: readonly WorklogLine[] = []): string {
  const memory = open();
  const { id, log } = memory.lifecycle.begin(memory.workspace, { purpose, fields: {}, plan: [], concurrent: true });
  const conversation = worklogKind.line('conversation', {
    provider: 'claude',
    conversation: ID,
    source: 'bind',
    since: null,
  });
  log.write(() => [conversation, ...lines], memory.stamp);
  return id;
}

test('a round removes what a command left in the temporary folder when it was killed, and leaves what one may use', async () => {
  const { pid } = spawnSync('true');
  const make = (name: string, age: number) => {
    const folder = mkdtempSync(join(tmpdir(), name));
    mkdirSync(join(folder, 'files'));
    writeFileSync(join(folder, 'files/object'), 'of a trial merge');
    const then = (scene.clock.now() - age) / 1_000;
    utimesSync(folder, then, then);
    return folder;
  };
  const left = make(`watchkeeper-git-${pid}-`, DAY + 1_000);
  const others = [
    make(`watchkeeper-git-${pid}-`, DAY - 1_000),
    make(`watchkeeper-git-${process.pid}-`, 2 * DAY),
    make(`watchkeeper-other-${pid}-`, 2 * DAY),
  ];
  expect(await round()).toMatchObject({ failures: [] });
  expect([left, ...others].map((folder) => existsSync(folder))).toEqual([false, true, true, true]);
});

test('a round keeps sessions whose runs are dead or have ended, once, and leaves alone where somebody may be at work', async () => {
  const crashed = begin('crashed', [worklogKind.line('run_started', { process: dead() })]);
  const alive = begin('alive', [worklogKind.line('run_started', { process: readProcessIdentity('host') })]);
  const unknown = begin('unknown');
  expect(await round()).toMatchObject({ kept: [crashed], failures: [] });
  expect([crashed, alive, unknown].map((id) => existsSync(copyOf(id)))).toEqual([true, false, false]);
  expect((await round()).kept).toEqual([]);
  await scene.clock.advance(1);
  const memory = open();
  memory
    .which(crashed)
    .log.write(() => [worklogKind.line('run_started', { process: { ...dead(), pid: 2 } })], memory.stamp);
  expect((await round()).kept).toEqual([crashed]);
});

test('a copy goes after keep_days, the worklog stays, and that is no fault; the copy does not come back', async () => {
  const id = begin('x', [worklogKind.line('run_started', { process: dead() })]);
  await round();
  for (const path of [copyOf(id), foldOf(id)]) expect(existsSync(path)).toBe(true);
  await scene.clock.advance(90 * DAY - 1);
  // What the transcript shows may be later than what was declared.
  const last = Math.max(
    open().which(id).log.state.kept?.last_activity ?? 0,
    open().which(id).log.state.last_activity ?? 0,
  );
  await scene.clock.advance(Math.max(0, last + 91 * DAY - scene.clock.now()));
  expect(await round()).toMatchObject({ expired: [id], kept: [] });
  for (const path of [copyOf(id), foldOf(id)]) expect(existsSync(path)).toBe(false);
  expect(open().which(id).log.counts.unreadable).toBe(0);
  expect(verifySession(open(), open().which(id)).filter(({ ok }) => !ok)).toEqual([]);
  expect(await round()).toMatchObject({ expired: [], kept: [] });
});

test('what rested for 30 days is archived, the next start here says so once, and a setting switches it off', async () => {
  const id = begin('x', [worklogKind.line('run_started', { process: dead() })]);
  const busy = begin('busy', [worklogKind.line('run_started', { process: readProcessIdentity('host') })]);
  rmSync(join(programs, '.claude'), { recursive: true });
  await scene.clock.advance(720 * HOUR + 1);
  writeFileSync(join(scene.home, 'settings.json'), '{"auto_archive":{"when_archivable":false}}');
  expect((await round()).archived).toEqual([]);
  rmSync(join(scene.home, 'settings.json'));
  expect((await round()).archived).toEqual([id]);
  expect(open().which(id).folder).toContain('/archive/');
  expect(open().which(busy).folder).toContain('/sessions/');
  expect(toldHere()).toEqual([expect.stringContaining(`${id} rested for more than 30 days`)]);
  begin('next');
  expect(toldHere()).toEqual([]);
});

test('what is taken out of the archive stays, until it has rested for long again; the round archives as Watchkeeper', async () => {
  const id = begin('x', [worklogKind.line('run_started', { process: dead() })]);
  rmSync(join(programs, '.claude'), { recursive: true });
  await scene.clock.advance(720 * HOUR + 1);
  expect((await round()).archived).toEqual([id]);
  const lines = () =>
    readFileSync(join(open().which(id).folder, 'worklog.jsonl'), 'utf8')
      .trimEnd()
      .split('\n');
  const last = lines().flatMap((line) => (line.includes('session_archived') ? [JSON.parse(line).origin] : []));
  expect(last).toEqual(['watchkeeper']);
  unarchiveSession(open(), open().which(id));
  await scene.clock.advance(HOUR);
  expect((await round()).archived).toEqual([]);
  await scene.clock.advance(719 * HOUR + 1);
  expect((await round()).archived).toEqual([id]);
});

test('of many sessions that went into the archive, also in several rounds, one line is said', async () => {
  for (const purpose of ['one', 'two']) begin(purpose, [worklogKind.line('run_started', { process: dead() })]);
  await scene.clock.advance(HOUR);
  begin('three', [worklogKind.line('run_started', { process: dead() })]);
  rmSync(join(programs, '.claude'), { recursive: true });
  await scene.clock.advance(719 * HOUR + 1);
  expect((await round()).archived).toHaveLength(2);
  await scene.clock.advance(HOUR);
  expect((await round()).archived).toHaveLength(1);
  expect(toldHere()).toEqual([
    '3 sessions of this directory rested for long and are in the archive: watchkeeper work list --here --archived',
  ]);
  begin('next');
  expect(toldHere()).toEqual([]);
});

test('what only a transcript shows keeps a session from a removal by age, also when just its copy is left', async () => {
  const id = begin('', [worklogKind.line('run_started', { process: dead() })]);
  const transcript = join(programs, '.claude/projects/-home-me-popoto', `${ID}.jsonl`);
  const declared = open().which(id).log.state.last_activity ?? 0;
  const shown = declared + DAY;
  utimesSync(transcript, shown / 1000, shown / 1000);
  expect(await sessionsBefore(open(), shown)).toEqual([]);
  // The person must know it again.
  const [old] = await sessionsBefore(open(), shown + 1);
  expect(old).toMatchObject({ session_id: id, last_activity: shown, purpose: expect.stringMatching(/^\w/) });
  await round();
  rmSync(transcript);
  const kept = open().which(id).log.state.kept?.last_activity ?? 0;
  expect(await sessionsBefore(open(), kept)).toEqual([]);
  expect(await sessionsBefore(open(), Math.max(kept, declared) + 1)).toMatchObject([{ session_id: id }]);
});

test('what could not be kept is told at the next start, and the other sessions are kept', async () => {
  const broken = begin('broken', [worklogKind.line('run_started', { process: dead() })]);
  const fine = begin('fine', [worklogKind.line('run_started', { process: dead() })]);
  writeFileSync(copyOf(broken), 'mine\n');
  expect(await round()).toMatchObject({ kept: [fine], failures: [{ session_id: broken }] });
  expect(toldHere()).toEqual([expect.stringContaining(`session ${broken} could not be kept`)]);
});

test('what binds a process of another boot goes, what binds one of this boot stays', async () => {
  const id = begin('x');
  const { bindings } = open();
  bindings.bind({ process: dead() }, id);
  bindings.bind({ process: readProcessIdentity('host') }, id);
  bindings.bind({ process: { ...dead(), host: 'elsewhere' } }, id);
  bindings.bind({ provider: 'claude', conversation: ID }, id);
  await round();
  expect(readdirSync(join(scene.home, 'bindings'))).toHaveLength(3);
  expect(bindings.sessionOf({ process: dead() })).toBeNull();
  expect(bindings.sessionOf({ process: readProcessIdentity('host') })).toBe(id);
});

test('a session with phases goes into the archive when all are done, and a plain list of steps stays', () => {
  const done = (agents: readonly string[]) => [
    worklogKind.line('step_added', { step: '1', title: 'a', agents }),
    worklogKind.line('step', { step: '1', to: 'in_progress' }),
    worklogKind.line('step', { step: '1', to: 'completed' }),
  ];
  const place = (id: string) => {
    const memory = open();
    memory.lifecycle.end(memory.which(id), null, { lines: () => [], reason: 'completed' });
    return archiveDone(memory, memory.which(id));
  };
  expect(place(begin('plain', done([])))).toBeNull();
  expect(place(begin('phases', done(['coder'])))).toContain('/archive/');
  expect(place(begin('open', done(['coder']).slice(0, 2)))).toBeNull();
  writeFileSync(join(scene.home, 'settings.json'), '{"auto_archive":{"on_completion":false}}');
  expect(place(begin('off', done(['coder'])))).toBeNull();
});

test('what lies among the bindings and is none keeps no round from its work, or from the other bindings', async () => {
  const id = begin('crashed', [worklogKind.line('run_started', { process: dead() })]);
  const memory = open();
  memory.bindings.bind({ process: dead() }, id);
  const bindings = join(scene.home, 'bindings');
  const [old] = readdirSync(bindings).filter((name) => name.startsWith('p_'));
  mkdirSync(join(bindings, 'p_0.jsonl'));
  symlinkSync('/dev/zero', join(bindings, 'p_1.jsonl'));
  expect(await round()).toMatchObject({ kept: [id], failures: [] });
  expect(readdirSync(bindings)).not.toContain(old);
  expect(readdirSync(bindings)).toEqual(expect.arrayContaining(['p_0.jsonl', 'p_1.jsonl']));
});

test('a round over sessions that cannot be kept leaves no file of theirs open', async () => {
  for (let count = 0; count < 20; count += 1) {
    const id = begin(`x ${count}`, [worklogKind.line('run_started', { process: dead() })]);
    writeFileSync(copyOf(id), 'somebody wrote this');
  }
  const openFiles = () => readdirSync('/proc/self/fd').length;
  await round();
  const before = openFiles();
  expect((await round()).failures).toHaveLength(20);
  expect(openFiles()).toBeLessThanOrEqual(before);
});
