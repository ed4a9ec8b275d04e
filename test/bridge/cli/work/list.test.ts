// covers: memory/verbs/list.ts memory/look/list.ts memory/show/rowWords.ts memory/sessions/stateFile.ts memory/keeping/rebuild.ts
/** The list of sessions, and the generated files from which it is made where they are valid. */

import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { worklogKind } from '../../../../memory/fold/rules/kind.js';
import type { SessionRow } from '../../../../memory/look/list.js';
import { startConversation } from '../../../../memory/programs/conversationStart.js';
import { endRun } from '../../../../memory/programs/runEnd.js';
import { Memory } from '../../../../memory/sessions/memory.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../../src/host/identity.js';
import { compiledProgram } from '../../../../src/host/program.js';
import { redactShapes } from '../../../../src/log/redact.js';
import { systemClock } from '../../../../src/time.js';
import { testFolder } from '../../../harness/folder.js';
import { WorkScene } from './scene.js';

const MAIN = compiledProgram('bridge/cli/main');

const LONGEST_TEXT = 4096;

let scene: WorkScene;

beforeEach(() => {
  scene = new WorkScene();
});

const fileOf = (id: string, name: string) => join(scene.home, 'sessions', id, name);
const stateOf = (id: string) => JSON.parse(readFileSync(fileOf(id, 'state.json'), 'utf8'));
const worklogBytes = (id: string) => statSync(fileOf(id, 'worklog.jsonl')).size;

async function endedSession(task: string): Promise<string> {
  const id = await scene.begin(task);
  await scene.say('track', ['done', '--complete']);
  return id;
}

const all = () => scene.json('work', ['list', '--all']);

/** Changes the state so that a row shows whether it was made from it. */
function mark(id: string): void {
  writeFileSync(fileOf(id, 'state.json'), JSON.stringify({ ...stateOf(id), purpose: 'from state.json' }));
}

const purposes = async () => (await all()).map(({ purpose }: { purpose: string }) => purpose);

test('a session that ends or is archived leaves its state, with the bytes that rebuild writes', async () => {
  const id = await scene.begin('T');
  expect(existsSync(fileOf(id, 'state.json'))).toBe(false);
  await scene.say('track', ['done', '--complete']);
  const files = () => ['state.json', 'session.md'].map((name) => readFileSync(fileOf(id, name)));
  const written = files();
  expect(stateOf(id)).toMatchObject({ v: 1, lifecycle: 'ended', at: worklogBytes(id), log: { unreadable: 0 } });
  await scene.say('work', ['rebuild', id]);
  expect(files()).toEqual(written);
  await scene.say('track', ['note', 'late', '--session', id]);
  expect(stateOf(id)).toMatchObject({ at: worklogBytes(id), notes: [{ text: 'late' }] });
  await scene.say('work', ['archive', id]);
  const [year = ''] = readdirSync(join(scene.home, 'archive'));
  expect(JSON.parse(readFileSync(join(scene.home, 'archive', year, id, 'state.json'), 'utf8')).archived).toBe(true);
});

test('a long log leaves its state when it has grown by 256 KiB, not with each line', async () => {
  const id = await scene.begin('T');
  const message = 'x '.repeat(LONGEST_TEXT / 2);
  const grow = async () => {
    const [line = ''] = readFileSync(fileOf(id, 'worklog.jsonl'), 'utf8').split('\n').slice(-2);
    for (let count = 0; count < 64; count += 1)
      appendFileSync(fileOf(id, 'worklog.jsonl'), `${line.replace(/"id":"[^"]+/, `"id":"${worklogBytes(id)}`)}\n`);
  };
  await scene.say('track', ['log', message]);
  expect(existsSync(fileOf(id, 'state.json'))).toBe(false);
  await grow();
  await scene.say('work', ['show', id]);
  expect(existsSync(fileOf(id, 'state.json'))).toBe(false);
  await scene.say('track', ['log', message]);
  const { at } = stateOf(id);
  expect(at).toBe(worklogBytes(id));
  await scene.say('track', ['log', message]);
  expect(stateOf(id).at).toBe(at);
  await grow();
  await scene.say('track', ['log', message]);
  expect(stateOf(id).at).toBe(worklogBytes(id));
});

test('a row is made from the state if that covers the whole log, and is the same without it', async () => {
  const id = await endedSession('T');
  const row = await all();
  rmSync(fileOf(id, 'state.json'));
  expect(await all()).toEqual(row);
  await scene.say('work', ['rebuild', id]);
  mark(id);
  expect(await purposes()).toEqual(['from state.json']);
});

test('a state counts for nothing if it is damaged, of another version, or not of this log and journal', async () => {
  const id = await endedSession('T');
  const whole = readFileSync(fileOf(id, 'state.json'), 'utf8');
  for (const damaged of ['', '{', 'null', '[]', whole.replace('"v":1', '"v":2'), '{"v":1}']) {
    writeFileSync(fileOf(id, 'state.json'), damaged);
    expect([damaged, await purposes()]).toEqual([damaged, ['T']]);
  }
  writeFileSync(fileOf(id, 'state.json'), whole);
  mark(id);
  // What makes a row has another type.
  writeFileSync(fileOf(id, 'state.json'), JSON.stringify({ ...stateOf(id), progress: 3 }));
  expect(await purposes()).toEqual(['T']);
  writeFileSync(fileOf(id, 'state.json'), whole);
  mark(id);
  const log = readFileSync(fileOf(id, 'worklog.jsonl'), 'utf8');
  // The state is written after the log, on a busy machine by more than a second.
  const { mtimeMs: written } = statSync(fileOf(id, 'state.json'));
  // Of the same length.
  writeFileSync(fileOf(id, 'worklog.jsonl'), log.replaceAll('"origin":"person"', '"origin":"rerson"'));
  utimesSync(fileOf(id, 'worklog.jsonl'), 0, written / 1_000 + 1);
  expect((await all())[0]).toMatchObject({ unreadable: log.trim().split('\n').length });
  writeFileSync(fileOf(id, 'worklog.jsonl'), `${log}x\n`);
  expect((await all())[0]).toMatchObject({ purpose: 'T', unreadable: 1 });
  writeFileSync(fileOf(id, 'worklog.jsonl'), log);
  utimesSync(fileOf(id, 'worklog.jsonl'), 0, written / 1_000 - 1);
  expect(await purposes()).toEqual(['from state.json']);
  writeFileSync(fileOf(id, 'tool_use.jsonl'), '{}\n');
  expect(await purposes()).toEqual(['T']);
});

test('one damaged log, one with lines of a newer version, one that cannot be read: each is shown as such, beside the others', async () => {
  const [damaged, newer, unreadable] = [await endedSession('d'), await endedSession('n'), await endedSession('u')];
  await endedSession('whole');
  appendFileSync(fileOf(damaged, 'worklog.jsonl'), 'no line\n');
  appendFileSync(
    fileOf(newer, 'worklog.jsonl'),
    '{"v":2,"id":"x","timestamp":"2026-01-01T00:00:00Z","event":"later","origin":"robot"}\n',
  );
  rmSync(fileOf(unreadable, 'worklog.jsonl'));
  mkdirSync(fileOf(unreadable, 'worklog.jsonl'));
  const { code, out, err } = await scene.say('work', ['list', '--all']);
  const lineOf = (id: string) => out.split('\n').find((line) => line.includes(id)) ?? '';
  expect(lineOf(damaged)).toMatch(/completed, damaged/);
  expect(lineOf(newer)).toMatch(/completed, newer version/);
  expect(lineOf('whole')).toMatch(/completed {2}/);
  expect(err).toContain(fileOf(unreadable, 'worklog.jsonl'));
  expect([code, out.match(/completed/g)?.length]).toEqual([3, 3]);
});

test('a row names the directory, and whether an agent is at work', async () => {
  const living = readProcessIdentity('host');
  const folder = realpathSync(testFolder());
  /** As the hooks of an agent there would. */
  const record = (name: string, agent: ProcessIdentity, hasEnded = false) => {
    const directory = join(folder, name);
    mkdirSync(directory);
    const surroundings = { directory, process: living, variables: { WATCHKEEPER_HOME: scene.home } };
    const memory = new Memory({ surroundings, folder: null, clock: systemClock, redact: redactShapes });
    const launch = { provider: 'claude', conversation: name, transcript: null, launchedIn: null, agent } as const;
    const { session } = startConversation(memory, { ...launch, source: 'startup' });
    // Without anything in it, it would end with its agent.
    session.log.write(() => [worklogKind.line('note', { text: 'n' })], memory.stamp);
    if (hasEnded) endRun(memory, session, agent, 'prompt_input_exit');
    session.log.close();
    return { id: session.id, directory };
  };
  const left = record('left', living, true);
  const working = record('working', living);
  const killed = record('killed', { ...living, pid_start: '1' });
  const declared = await scene.begin('declared');
  const rows: SessionRow[] = await all();
  expect(new Map(rows.map((row) => [row.session_id, [row.directory, row.liveness, row.run_ended]]))).toEqual(
    new Map([
      [working.id, [working.directory, 'alive', false]],
      [left.id, [left.directory, 'alive', true]],
      [killed.id, [killed.directory, 'dead', false]],
      [declared, [scene.directory, 'none', false]],
    ]),
  );
  const { out } = await scene.say('work', ['list'], { variables: { HOME: folder } });
  const rowOf = (id: string) =>
    out
      .match(new RegExp(`^${id}.*\n.*`, 'm'))?.[0]
      .replace(/\s+/g, ' ')
      .trim();
  expect([working, left, killed].map(({ id }) => rowOf(id))).toEqual([
    `${working.id} unknown alive - just now ~/working`,
    `${left.id} resting ended - just now ~/left`,
    `${killed.id} crashed dead - just now ~/killed`,
  ]);
  expect(rowOf(declared)).toBe(`${declared} planned - 0/1 just now ${scene.directory} declared`);
  expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect((await scene.say('work', ['list', '--here'])).out).not.toContain('DIRECTORY');
});

test('a session that was not reopened keeps its place in the list', async () => {
  const old = await endedSession('old');
  const holder = await scene.begin('holder');
  const rows = async () =>
    (await all()).map(({ session_id, last_activity }: SessionRow) => [session_id, last_activity]);
  const before = await rows();
  expect(await scene.say('work', ['reopen', old])).toMatchObject({ code: 1, err: expect.stringContaining(holder) });
  expect(await rows()).toEqual(before);
});

test('a session is listed although the log of its directory cannot be read, which is said once', async () => {
  await scene.begin('first');
  await scene.say('track', ['init', 'second', '--concurrent']);
  const [name = ''] = readdirSync(join(scene.home, 'workspaces'));
  const workspace = join(scene.home, 'workspaces', name);
  rmSync(workspace);
  mkdirSync(workspace);
  const { code, out, err } = await scene.say('work', ['list'], { where: testFolder() });
  expect([code, out]).toEqual([3, expect.stringMatching(/first.*second|second.*first/s)]);
  expect(err.trim().split('\n')).toEqual([expect.stringContaining(workspace)]);
});

test('where no session can be read, the list does not say that there is none', async () => {
  const id = await scene.begin('T');
  rmSync(fileOf(id, 'worklog.jsonl'));
  mkdirSync(fileOf(id, 'worklog.jsonl'));
  expect(await scene.say('work', ['list'])).toMatchObject({ code: 3, out: 'no session that can be read\n' });
});

test('a file that lies among the sessions or in the archive is none of them', async () => {
  await scene.begin('T');
  mkdirSync(join(scene.home, 'archive', '2026'), { recursive: true });
  for (const place of ['sessions/stray', 'archive/stray', 'archive/2026/stray', 'archive/2027'])
    writeFileSync(join(scene.home, place), '');
  expect(await scene.say('work', ['list', '--all'])).toMatchObject({ code: 0, err: '' });
  expect(await scene.json('work', ['list', '--archived'])).toEqual([]);
  expect(await scene.json('work', ['list'])).toHaveLength(1);
});

test('a state of a newer version is left alone, and so is one that would lack lines of a newer version', async () => {
  const id = await scene.begin('T');
  writeFileSync(fileOf(id, 'state.json'), '{"v":2}');
  await scene.say('track', ['done', '--complete']);
  expect(await scene.say('work', ['rebuild', id])).toMatchObject({ code: 2, err: expect.stringContaining('update') });
  expect(readFileSync(fileOf(id, 'state.json'), 'utf8')).toBe('{"v":2}');
  rmSync(fileOf(id, 'state.json'));
  appendFileSync(
    fileOf(id, 'worklog.jsonl'),
    '{"v":2,"id":"x","timestamp":"2026-01-01T00:00:00Z","event":"later","origin":"robot"}\n',
  );
  expect(await scene.say('work', ['rebuild', id])).toMatchObject({ code: 2, err: expect.stringContaining('update') });
  expect(existsSync(fileOf(id, 'state.json'))).toBe(false);
});

test('a session ends although its state cannot be written, and is listed as before', async () => {
  const id = await scene.begin('T');
  mkdirSync(fileOf(id, 'state.json'));
  expect((await scene.say('track', ['done', '--complete'])).code).toBe(0);
  expect((await all())[0]).toMatchObject({ end_reason: 'completed' });
});

test('where the disk takes no more, the generated files stay as they were, and the log is a beginning of what was to be', async () => {
  const id = await endedSession('T');
  const files = ['state.json', 'session.md', 'worklog.jsonl'].map((name) => fileOf(id, name));
  const texts = () => files.map((path) => readFileSync(path, 'utf8'));
  const before = texts();
  const names = () => readdirSync(join(scene.home, 'sessions', id)).sort();
  const namesBefore = names();
  // The shell counts blocks of 512 bytes, or of 1,024: smaller than each of the files.
  const run = (words: string) =>
    spawnSync('sh', ['-c', `ulimit -f 1 && exec "$0" "$1" ${words}`, process.execPath, MAIN], {
      cwd: scene.directory,
      env: { PATH: process.env.PATH ?? '', WATCHKEEPER_HOME: scene.home },
      encoding: 'utf8',
    });
  const rebuilt = run(`work rebuild ${id}`);
  expect([rebuilt.status, rebuilt.stderr]).toEqual([3, expect.stringContaining('state.json')]);
  expect([texts(), names()]).toEqual([before, namesBefore]);
  const noted = run(`track note ${'n'.repeat(2_000)} --session ${id}`);
  expect(noted.status).toBe(3);
  const [state, text, log = ''] = texts();
  expect([state, text, log.startsWith(before[2] ?? '-')]).toEqual([before[0], before[1], true]);
  expect((await scene.say('track', ['note', 'later', '--session', id])).code).toBe(0);
  expect(stateOf(id)).toMatchObject({ at: worklogBytes(id), notes: [{ text: 'later' }] });
});

test('of a session at work the list says what its transcript shows now, also where an older state is written', async () => {
  const id = await scene.begin('T');
  await scene.say('work', ['rebuild', id]);
  const transcript = join(scene.home, '..', 'c1.jsonl');
  const worklog = fileOf(id, 'worklog.jsonl');
  const line = (lineId: string, fields: object) =>
    `${JSON.stringify({ v: 1, id: lineId, timestamp: new Date().toISOString(), origin: 'program', session_id: id, ...fields })}\n`;
  appendFileSync(
    worklog,
    line(
      'a',
      worklogKind.line('conversation', { provider: 'claude', conversation: 'c1', source: 'startup', transcript }),
    ) + line('b', worklogKind.line('run_started', { process: readProcessIdentity('host') })),
  );
  for (const hour of [1, 2]) {
    const timestamp = `2099-01-01T0${hour}:00:00.000Z`;
    const said = {
      type: 'user',
      sessionId: 'c1',
      uuid: `u${hour}`,
      timestamp,
      message: { role: 'user', content: 'go' },
    };
    appendFileSync(transcript, `${JSON.stringify(said)}\n`);
    // As long as nothing is declared, this is what was written last.
    if (hour === 1) await scene.say('work', ['rebuild', id]);
    expect(await all()).toMatchObject([{ session_id: id, last_activity: Date.parse(timestamp) }]);
  }
});
