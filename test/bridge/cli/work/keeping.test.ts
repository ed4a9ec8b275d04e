// covers: memory/verbs/lifecycle.ts memory/verbs/keeping.ts memory/keeping/purge.ts memory/keeping/rebuild.ts memory/home/sessionFile.ts memory/fold/state.ts memory/show/shown.ts
/** What becomes of a session's record, as people and agents ask for it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { DAY } from '../../../../src/time.js';
import { testFolder } from '../../../harness/folder.js';
import { WorkScene } from './scene.js';

let scene: WorkScene;

beforeEach(() => {
  scene = new WorkScene();
});

/** As if everything in its log had been written so long ago. */
function age(id: string, ms: number): void {
  const path = join(scene.home, 'sessions', id, 'worklog.jsonl');
  const then = new Date(Date.now() - ms).toISOString();
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/"timestamp":"[^"]+"/g, `"timestamp":"${then}"`));
}

test('an archived session is hidden, can be shown and checked, and takes no work until it is back', async () => {
  const id = await scene.begin('T');
  expect((await scene.say('work', ['archive', id])).out).toContain(`session ${id} is in the archive`);
  expect((await scene.say('work', ['list', '--all'])).out).toBe('no sessions\n');
  expect((await scene.json('work', ['list', '--archived']))[0].session_id).toBe(id);
  expect(await scene.json('work', ['show', id])).toMatchObject({ archived: true, lifecycle: 'planned' });
  expect((await scene.say('work', ['verify', id])).code).toBe(0);
  expect(await scene.say('track', ['step', '1', '--start', '--session', id])).toMatchObject({
    code: 1,
    err: expect.stringContaining('in the archive'),
  });
  await scene.say('work', ['unarchive', id]);
  expect((await scene.say('track', ['step', '1', '--start'])).code).toBe(0);
});

test('a refusal names the directory that another session holds, whichever one the caller is in', async () => {
  const archived = await scene.begin('archived');
  await scene.say('work', ['archive', archived]);
  const over = await scene.begin('over');
  await scene.say('track', ['done', '--complete']);
  const holder = await scene.begin('holder');
  for (const words of [
    ['unarchive', archived],
    ['reopen', over],
  ])
    expect([words, await scene.say('work', words, { where: testFolder() })]).toEqual([
      words,
      { code: 1, out: '', err: `session ${holder} holds ${scene.directory}` },
    ]);
});

test('a round that fails says once why, and not that there was nothing to do', async () => {
  const id = await scene.begin('T');
  const folder = join(scene.home, 'sessions', id);
  rmSync(folder, { recursive: true });
  writeFileSync(`${folder}.txt`, '');
  symlinkSync(`${folder}.txt`, folder);
  expect(await scene.say('work', ['keep'])).toEqual({
    code: 3,
    out: 'nothing was done\n',
    err: `${id}: ${folder} is a link, or not the kind of file that belongs there, and links are not followed: remove it\n`,
  });
});

test('a crashed session that was put away is reported no more', async () => {
  const agent = spawn('sh', ['-c', 'sleep 600 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [said] = (await once(agent.stdout, 'data')) as [Buffer];
  const shell = Number(said.toString());
  const inShell = { pid: shell, variables: { CLAUDE_PID: String(agent.pid) } };
  const { session_id: id } = await scene.json('track', ['init', 'T', '--step', 'a'], inShell);
  await scene.say('track', ['step', '1', '--start'], inShell);
  const exited = once(agent, 'exit');
  agent.kill('SIGKILL');
  process.kill(shell, 'SIGKILL');
  await exited;
  expect((await scene.say('track', ['crash-detect'])).code).toBe(1);
  await scene.say('work', ['archive', id]);
  expect((await scene.say('track', ['crash-detect'])).code).toBe(0);
});

test('a session that has ended is reopened out of the archive, or stays there if its directory is taken', async () => {
  const id = await scene.begin('T');
  await scene.say('track', ['done', '--complete']);
  await scene.say('work', ['archive', id]);
  const other = await scene.begin('other');
  const { log } = await scene.json('work', ['show', id]);
  expect(await scene.say('work', ['reopen', id])).toMatchObject({ code: 1, err: expect.stringContaining(other) });
  expect(await scene.json('work', ['show', id])).toMatchObject({ archived: true, lifecycle: 'ended', log });
  await scene.say('work', ['archive', other]);
  expect((await scene.say('work', ['reopen', id])).code).toBe(0);
  expect(await scene.json('work', ['show', id])).toMatchObject({ archived: false, lifecycle: 'active' });
});

test('the agent of a conversation goes on with another session, also an archived one, and leaves its own behind', async () => {
  const first = await scene.begin('first');
  await scene.say('work', ['archive', first]);
  const agent = { variables: { CLAUDE_CODE_SESSION_ID: 'c-1' } };
  const second = (await scene.json('track', ['init', 'second', '--concurrent'], agent)).session_id;
  expect((await scene.say('work', ['continue', first])).code).toBe(2);
  expect(await scene.json('work', ['continue', first], agent)).toMatchObject({ session_id: first, unarchived: true });
  expect((await scene.json('track', ['status'], agent)).session_id).toBe(first);
  const { conversations } = await scene.json('work', ['show', second]);
  expect(conversations).toMatchObject([{ id: 'c-1', moved_at: expect.any(Number) }]);
  await scene.say('track', ['done', '--complete'], agent);
  expect((await scene.say('work', ['continue', first], agent)).err).toContain(`work reopen ${first}`);
});

test('what is due is archived together, and says so', async () => {
  const old = await scene.begin('old');
  age(old, 31 * DAY);
  expect(
    (await scene.json('work', ['archive', '--due'])).map(({ session_id }: { session_id: string }) => session_id),
  ).toEqual([old]);
  expect((await scene.say('work', ['archive', '--due'])).out).toBe('no session rested that long\n');
  expect((await scene.say('work', ['archive', old, '--due'])).code).toBe(2);
});

test('nothing is removed without --yes; then nothing is left', async () => {
  const id = await scene.begin('T');
  const asked = await scene.say('work', ['purge', id]);
  expect([asked.code, asked.err]).toEqual([1, expect.stringMatching(new RegExp(`${id}.*--yes`, 's'))]);
  expect(existsSync(join(scene.home, 'sessions', id))).toBe(true);
  expect((await scene.say('work', ['purge', id, '--yes'])).code).toBe(0);
  expect(readdirSync(join(scene.home, 'sessions'))).toEqual([]);
  expect((await scene.say('work', ['show', id])).code).toBe(2);
  expect((await scene.say('track', ['init', 'next'])).code).toBe(0);
});

test.each<[string, readonly string[], number]>([
  ['the same removal again', ['purge', 'x', '--yes'], 2],
  ['any removal', ['purge', '--older-than', '200d'], 0],
  ['the next round', ['keep'], 0],
])('what a killed removal has left goes with %s', async (_, words, code) => {
  const left = [join(scene.home, 'sessions/.removed-x.1'), join(scene.home, 'archive/2026/.removed-y.1')];
  for (const folder of left) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'worklog.jsonl'), 'words of a person');
  }
  expect((await scene.say('work', words)).code).toBe(code);
  expect(left.filter((folder) => existsSync(folder))).toEqual([]);
});

test('a removal by age names those that are older, archived or not, and no others', async () => {
  const old = await scene.begin('old');
  age(old, 100 * DAY);
  await scene.say('work', ['archive', old]);
  const fresh = await scene.begin('fresh');
  expect((await scene.say('work', ['purge', '--older-than', '200d', '--yes'])).out).toBe('no session is that old\n');
  expect((await scene.json('work', ['purge', '--older-than', '90d', '--yes'])).removed).toEqual([old]);
  expect((await scene.json('work', ['list']))[0].session_id).toBe(fresh);
});

test('the generated files are made anew with the same bytes, whatever was in their place', async () => {
  const id = await scene.begin('T');
  await scene.say('track', ['step', '1', '--start']);
  const { files } = await scene.json('work', ['rebuild', id]);
  const [state, text] = files.map((path: string) => readFileSync(path, 'utf8'));
  const { liveness, crashed, freshness, check, session_state, tree, duration, ...shown } = await scene.json('work', [
    'show',
    id,
  ]);
  expect([liveness, crashed, freshness, check, session_state, tree, duration]).not.toContain(undefined);
  expect(JSON.parse(state)).toEqual({ ...shown, kept: 0 });
  writeFileSync(files[0], '{"v":1,"session_id":"forged"');
  writeFileSync(files[1], 'edited');
  await scene.say('work', ['rebuild', id]);
  expect(files.map((path: string) => readFileSync(path, 'utf8'))).toEqual([state, text]);
  expect(readdirSync(join(scene.home, 'sessions', id)).sort()).toEqual(['session.md', 'state.json', 'worklog.jsonl']);
});

test('a state that a newer version has written is left alone', async () => {
  const id = await scene.begin('T');
  const path = join(scene.home, 'sessions', id, 'state.json');
  writeFileSync(path, '{"v":2}');
  expect(await scene.say('work', ['rebuild', id])).toMatchObject({
    code: 2,
    err: expect.stringContaining('newer version'),
  });
  expect(readFileSync(path, 'utf8')).toBe('{"v":2}');
});
