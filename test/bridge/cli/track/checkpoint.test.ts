// covers: memory/verbs/checkpoint.ts memory/git/git.ts
/** What a checkpoint is compared by, besides commits. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { type Caller, WorkScene } from '../work/scene.js';

const SAME = [0, 'nothing has changed since\n'];
const OTHER = [1, 'other uncommitted changes\n'];

let scene: WorkScene;

beforeEach(() => {
  scene = new WorkScene();
});

const put = (path: string, text: string) => writeFileSync(join(scene.directory, path), text);

function git(...args: string[]): void {
  const names = ['-c', 'user.email=a@example.com', '-c', 'user.name=a', '-c', 'commit.gpgsign=false'];
  expect(spawnSync('git', ['-C', scene.directory, ...names, ...args]).status).toBe(0);
}

async function verify(caller: Caller = {}) {
  const { code, out } = await scene.say('track', ['checkpoint', '--verify', 'here'], caller);
  return [code, out];
}

test('in a plain folder, nothing has changed since', async () => {
  await scene.begin('T');
  await scene.say('track', ['checkpoint', 'here']);
  expect(await verify()).toEqual(SAME);
});

test.each([
  ['an untracked file', () => git('commit', '-q', '--allow-empty', '-m', 'first')],
  ['a file that was added before the first commit', () => git('add', '--intent-to-add', 'new.ts')],
])('%s has changed if it holds something else, and not by a mere touch', async (_, prepare) => {
  git('init', '-q');
  put('new.ts', 'one');
  prepare();
  await scene.begin('T');
  await scene.say('track', ['checkpoint', 'here']);
  utimesSync(join(scene.directory, 'new.ts'), 5, 5);
  expect(await verify()).toEqual(SAME);
  put('new.ts', 'two');
  expect(await verify()).toEqual(OTHER);
  put('new.ts', 'one');
  expect(await verify()).toEqual(SAME);
  rmSync(join(scene.directory, 'new.ts'));
  expect((await verify())[0]).toBe(1);
});

test.each(['--skip-worktree', '--assume-unchanged'])('a change that git hides by %s is one', async (flag) => {
  git('init', '-q');
  put('a.ts', 'one');
  git('add', 'a.ts');
  git('commit', '-q', '-m', 'first');
  git('update-index', flag, 'a.ts');
  put('a.ts', 'two');
  await scene.begin('T');
  await scene.say('track', ['checkpoint', 'here']);
  expect(await verify()).toEqual(SAME);
  put('a.ts', 'three');
  expect(await verify()).toEqual(OTHER);
  put('a.ts', 'one');
  expect(await verify()).toEqual([1, '1 changed file fewer\n']);
});

test('a checkpoint of an older version, which did not read untracked files, is compared as it was then', async () => {
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  put('new.ts', 'one');
  const id = await scene.begin('T');
  await scene.say('track', ['checkpoint', 'here']);
  const path = join(scene.home, 'sessions', id, 'worklog.jsonl');
  const lines = readFileSync(path, 'utf8');
  const old = lines.replace(/"untracked_digest":"[0-9a-f]+",/, '');
  expect(old).not.toBe(lines);
  writeFileSync(path, old);
  expect(await verify()).toEqual(SAME);
});

test("a checkpoint of an older version, whose differences are in the user's format, is compared as it was then", async () => {
  git('init', '-q');
  put('a.ts', 'one\n');
  git('add', 'a.ts');
  git('commit', '-q', '-m', 'first');
  put('a.ts', 'two\n');
  const id = await scene.begin('T');
  await scene.say('track', ['checkpoint', 'here']);
  git('config', 'diff.noprefix', 'true');
  const { stdout } = spawnSync('git', ['-C', scene.directory, 'diff', 'HEAD'], { encoding: 'utf8' });
  const digest = createHash('sha256').update(` M a.ts\0\n${stdout}`).digest('hex').slice(0, 16);
  const path = join(scene.home, 'sessions', id, 'worklog.jsonl');
  const lines = readFileSync(path, 'utf8');
  const old = lines.replace(/"dirty_digest":"[0-9a-f]+"/, `"dirty_digest":"${digest}"`);
  expect(old).not.toBe(lines);
  writeFileSync(path, old);
  expect(await verify()).toEqual(SAME);
  put('a.ts', 'three\n');
  expect(await verify()).toEqual(OTHER);
});

test('what the memory writes is no change, even if it is in the repository', async () => {
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  const caller = { variables: { WATCHKEEPER_HOME: join(scene.directory, 'memory') } };
  await scene.say('track', ['init', 'T'], caller);
  await scene.say('track', ['checkpoint', 'here'], caller);
  await scene.say('track', ['note', 'later'], caller);
  expect(await verify(caller)).toEqual(SAME);
});

test('another worktree of the repository below this one is no change, and a clone is', async () => {
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  put('new.ts', 'one');
  await scene.begin('T');
  await scene.say('track', ['checkpoint', 'here']);
  git('worktree', 'add', '-q', '.claude/worktrees/other', '-b', 'other');
  expect(await verify()).toEqual(SAME);
  put('.claude/worktrees/other/there.ts', 'two');
  expect(await verify()).toEqual(SAME);
  git('clone', '-q', '.', 'copy');
  expect(await verify()).toEqual([1, '1 more changed file\n']);
});

test('a checkpoint of an older version, which counted such a worktree, is compared as it was then', async () => {
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  git('worktree', 'add', '-q', 'other', '-b', 'other');
  const id = await scene.begin('T');
  await scene.say('track', ['checkpoint', 'here']);
  const path = join(scene.home, 'sessions', id, 'worklog.jsonl');
  const digest = createHash('sha256').update('?? other/\0\n').digest('hex').slice(0, 16);
  const older = readFileSync(path, 'utf8').replace('"dirty_digest":null', `"dirty_digest":"${digest}"`);
  writeFileSync(path, older.replace('"dirty":0', '"dirty":1'));
  expect(await verify()).toEqual(SAME);
});

test.each([
  ['diff.noprefix', 'true'],
  ['diff.mnemonicprefix', 'true'],
  ['diff.context', '12'],
  ['diff.algorithm', 'patience'],
  ['diff.external', '/bin/true'],
  ['diff.renames', 'copies'],
  ['diff.x.textconv', 'tr a-z A-Z <'],
  ['color.ui', 'always'],
  ['core.quotepath', 'false'],
  ['core.abbrev', '14'],
  ['status.showuntrackedfiles', 'no'],
])('how a person likes to see differences is no change: %s %s', async (key, value) => {
  git('init', '-q');
  put('ä.ts', 'one');
  put('.gitattributes', '*.ts diff=x\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  put('ä.ts', 'two');
  put('new.ts', 'one');
  await scene.begin('T');
  await scene.say('track', ['checkpoint', 'here']);
  git('config', key, value);
  expect(await verify()).toEqual(SAME);
});

test('start is where the session began: commits since, another branch, rewritten history', async () => {
  const verified = async () => {
    const { code, out } = await scene.say('track', ['checkpoint', '--verify', 'start']);
    return [code, out];
  };
  git('init', '-q', '-b', 'main');
  put('a.ts', 'one');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  await scene.begin('T');
  expect(await verified()).toEqual(SAME);
  put('a.ts', 'two');
  const dirty = await scene.say('track', ['checkpoint', '--verify', 'start']);
  expect([dirty.code, dirty.out]).toEqual(SAME);
  expect(dirty.err).toBe('1 file uncommitted now; what was uncommitted at the start is not recorded\n');
  git('commit', '-qam', 'second');
  git('commit', '-q', '--allow-empty', '-m', 'third');
  expect(await verified()).toEqual([1, '2 commits since\n']);
  git('checkout', '-q', '-b', 'other');
  expect(await verified()).toEqual([1, '2 commits since, on branch other instead of main\n']);
  git('checkout', '-q', 'main');
  git('checkout', '-q', '--orphan', 'rewritten');
  git('commit', '-q', '-m', 'all');
  git('branch', '-M', 'rewritten', 'main');
  expect(await verified()).toEqual([1, 'rewritten: the commit of the start is not among the present ones\n']);
  expect((await scene.say('track', ['checkpoint', 'start'])).code).toBe(2);
});

test('a session that began outside of a repository has no start to compare with', async () => {
  await scene.begin('T');
  const { code, err } = await scene.say('track', ['checkpoint', '--verify', 'start']);
  expect(code).toBe(2);
  expect(err).toContain('did not begin in a git repository');
});
