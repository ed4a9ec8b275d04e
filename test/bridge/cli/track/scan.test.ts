/** What changed in a directory since the last look. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { WorkScene } from '../work/scene.js';

let scene: WorkScene;
let id = '';

beforeEach(async () => {
  scene = new WorkScene();
  mkdirSync(join(scene.directory, 'src'));
  writeFileSync(join(scene.directory, 'src/a.ts'), 'a');
  id = await scene.begin('T');
});

const put = (path: string, text: string) => writeFileSync(join(scene.directory, path), text);
const worklog = () => readFileSync(join(scene.home, 'sessions', id, 'worklog.jsonl'), 'utf8');

test('the beginning of a session is its first scan; one of another beginning has none', async () => {
  put('src/b.ts', 'x');
  expect((await scene.json('track', ['scan'])).created.paths).toEqual(['src/b.ts']);
  const other = (await scene.json('work', ['start', '--purpose', 'T', '--concurrent'])).session_id;
  expect((await scene.say('track', ['scan', '--session', other])).out).toBe('first scan: 2 files\n');
});

test('names what was created, modified, renamed and deleted, and moves no activity', async () => {
  put('gone', 'x');
  const before = worklog();
  expect((await scene.say('track', ['scan'])).out.split('\n').slice(1)).toEqual(['  created   gone', '']);
  put('src/a.ts', 'changed');
  put('src/new\nline', 'x');
  renameSync(join(scene.directory, 'gone'), join(scene.directory, 'here'));
  const { out, code } = await scene.say('track', ['scan']);
  expect(code).toBe(0);
  expect(out.split('\n').slice(1)).toEqual([
    '  created   here',
    '  created   src/new\\nline',
    '  modified  src/a.ts',
    '  deleted   gone',
    '',
  ]);
  expect((await scene.say('track', ['scan'])).out).toMatch(/^since .*: nothing has changed\n$/);
  expect(worklog()).toBe(before);
});

test('does not count what git ignores, and counts what is not committed yet', async () => {
  spawnSync('git', ['-C', scene.directory, 'init', '-q']);
  id = (await scene.json('track', ['init', 'in git', '--concurrent'])).session_id;
  put('.gitignore', 'out/\n');
  mkdirSync(join(scene.directory, 'out'));
  await scene.say('track', ['scan', '--session', id]);
  put('out/big', 'x');
  put('src/b.ts', 'x');
  rmSync(join(scene.directory, 'src/a.ts'));
  expect(await scene.json('track', ['scan', '--session', id])).toMatchObject({
    created: { paths: ['src/b.ts'] },
    modified: { count: 0 },
    deleted: { paths: ['src/a.ts'] },
    complete: true,
  });
});

test('looks at the directory of the session, wherever it is asked for', async () => {
  await scene.say('track', ['scan']);
  put('src/b.ts', 'x');
  const elsewhere = { where: join(scene.directory, '..') };
  expect((await scene.json('track', ['scan', '--session', id], elsewhere)).created.paths).toEqual(['src/b.ts']);
});

test('makes a damaged scan anew, and leaves one of a newer version alone', async () => {
  const path = join(scene.home, 'sessions', id, 'scan.json');
  writeFileSync(path, '{"v":1');
  expect((await scene.say('track', ['scan'])).out).toBe('first scan: 1 file\n');
  writeFileSync(path, '{"v":2}');
  expect(await scene.say('track', ['scan'])).toMatchObject({ code: 2, err: expect.stringContaining('newer version') });
  expect(readFileSync(path, 'utf8')).toBe('{"v":2}');
});

test('works for an archived session, without a second folder for it', async () => {
  await scene.say('work', ['archive', id]);
  expect((await scene.say('track', ['scan', '--session', id])).code).toBe(0);
  expect(existsSync(join(scene.home, 'sessions', id))).toBe(false);
  expect((await scene.say('work', ['verify', id])).code).toBe(0);
});
