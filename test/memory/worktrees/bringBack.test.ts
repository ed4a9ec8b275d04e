/** The printed line brings a removed worktree back, whatever is left of it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { gitFoldersOf } from '../../../memory/git/checkout.js';
import { type Removed, wayToBringBack } from '../../../memory/worktrees/bringBack.js';
import { Worktrees } from './scene.js';

let made: Worktrees;
let path: string;
let tip: string;

beforeEach(() => {
  made = new Worktrees();
  path = made.add('feature/login');
  writeFileSync(join(path, 'login.ts'), 'log in');
  made.git.run(path, 'add', '.');
  made.git.run(path, 'commit', '-q', '-m', 'login');
  tip = made.git.run(path, 'rev-parse', 'HEAD').trim();
});

const removed = (branch: string | null = 'feature/login', head: string | null = tip): Removed => ({
  ...{ root: path, common: gitFoldersOf(made.root).common, branch, head },
});

function wayBack(of = removed()): string | null {
  return wayToBringBack(of, made.git.variables);
}

/** Runs the line as a person does who has copied it. */
function bringBack(of = removed()): string {
  const line = wayBack(of);
  if (line === null) throw new Error('no way back');
  execFileSync('sh', ['-c', line], { cwd: '/', env: made.git.variables, stdio: 'pipe' });
  return line;
}

const isBack = () => existsSync(join(path, 'login.ts')) && readFileSync(join(path, 'login.ts'), 'utf8') === 'log in';
const branchThere = () => made.git.run(path, 'rev-parse', '--abbrev-ref', 'HEAD').trim();

test('from its branch, after it was removed in order', () => {
  made.git.run(made.root, 'worktree', 'remove', path);
  expect(bringBack()).toBe(`git -C ${made.root} worktree add ${path} feature/login`);
  expect([isBack(), branchThere()]).toEqual([true, 'feature/login']);
});

test('although git has it registered, and locked', () => {
  rmSync(path, { recursive: true });
  bringBack();
  made.git.run(made.root, 'worktree', 'lock', path);
  rmSync(path, { recursive: true });
  expect(bringBack()).toContain('add -f -f ');
  expect([isBack(), branchThere()]).toEqual([true, 'feature/login']);
});

test('from what was kept of it when it ended, the last one, and not from that of a longer name', () => {
  made.git.run(made.root, 'worktree', 'remove', path);
  made.git.run(made.root, 'branch', '-D', 'feature/login');
  made.git.run(made.root, 'update-ref', 'refs/watchkeeper/removed/feature-login-20260101T000000Z', 'main');
  made.git.run(made.root, 'update-ref', 'refs/watchkeeper/removed/feature-login-20260201T000000Z', tip);
  made.git.run(made.root, 'update-ref', 'refs/watchkeeper/removed/feature-login-page-20260301T000000Z', 'main');
  expect(bringBack(removed('feature/login', null))).toContain('feature-login-20260201T000000Z');
  expect([isBack(), branchThere()]).toEqual([true, 'feature/login']);
});

/** As `worktree end` keeps a worktree with uncommitted changes: its files, with the tip and the index as parents. */
function keepChanges(): void {
  writeFileSync(join(path, 'login.ts'), 'half');
  writeFileSync(join(path, 'new.ts'), 'new');
  const git = (...words: string[]) => made.git.run(path, ...words).trim();
  const index = git('commit-tree', git('write-tree'), '-m', 'watchkeeper: index');
  git('add', '.');
  const kept = git('commit-tree', git('write-tree'), '-p', tip, '-p', index, '-m', 'watchkeeper: files');
  git('update-ref', 'refs/watchkeeper/removed/feature-login-20260101T000000Z', kept);
}

const changes = () => made.git.run(path, 'status', '--porcelain').split('\n').filter(Boolean);

test('with the uncommitted changes that were kept, whether its branch went or stayed', () => {
  keepChanges();
  made.git.run(made.root, 'worktree', 'remove', '--force', path);
  made.git.run(made.root, 'branch', '-D', 'feature/login');
  for (const _ of ['without the branch', 'with it']) {
    bringBack();
    expect([branchThere(), made.git.run(path, 'rev-parse', 'HEAD').trim()]).toEqual(['feature/login', tip]);
    expect(changes()).toEqual([' M login.ts', '?? new.ts']);
    made.git.run(made.root, 'worktree', 'remove', '--force', path);
  }
});

test('without those of an earlier time, if its branch has moved on', () => {
  keepChanges();
  made.git.run(path, 'reset', '-q', '--hard');
  made.git.run(path, 'commit', '-q', '--allow-empty', '-m', 'later');
  made.git.run(made.root, 'worktree', 'remove', '--force', path);
  bringBack();
  expect(changes()).toEqual([]);
  expect(made.git.run(path, 'log', '-1', '--format=%s').trim()).toBe('later');
});

test('from its commit, if its branch is gone or checked out elsewhere, or it had none', () => {
  made.git.run(made.root, 'worktree', 'remove', path);
  made.git.run(made.root, 'branch', '-D', 'feature/login');
  bringBack();
  expect([isBack(), branchThere()]).toEqual([true, 'feature/login']);
  made.git.run(made.root, 'worktree', 'remove', path);
  bringBack(removed(null));
  expect([isBack(), branchThere()]).toEqual([true, 'HEAD']);
  made.git.run(made.root, 'worktree', 'remove', path);
  made.git.run(made.root, 'checkout', '-q', 'feature/login');
  bringBack();
  expect([isBack(), branchThere()]).toEqual([true, 'HEAD']);
});

test('not at all, if its commit is not known, or its repository is gone; no word becomes an option', () => {
  made.git.run(made.root, 'worktree', 'remove', path);
  expect(wayBack(removed('feature/gone', null))).toBeNull();
  expect(wayBack(removed('--force', '--force'))).toBeNull();
  rmSync(made.root, { recursive: true });
  expect(wayBack()).toBeNull();
});

test('a folder whose name a shell would read as several words', () => {
  const odd = made.add('fix/odd', join(made.folder, "it's $(here)"));
  made.git.run(made.root, 'worktree', 'remove', odd);
  bringBack({ ...removed('fix/odd'), root: odd });
  expect(existsSync(join(odd, '.git'))).toBe(true);
});
