/** What is listed of the worktrees of a repository, made with real git. */
// covers: memory/worktrees/base.ts memory/worktrees/dirt.ts memory/worktrees/ghosts.ts memory/worktrees/worktree.ts memory/worktrees/place.ts
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { worktreeAmong } from '../../../memory/verbs/worktrees.js';
import { TYPES } from '../../../memory/worktrees/naming.js';
import { repositoryAt } from '../../../memory/worktrees/place.js';
import { sizeOf } from '../../../memory/worktrees/size.js';
import { type Worktree, worktreesNamed } from '../../../memory/worktrees/worktree.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { afterThisTest } from '../../harness/scope.js';
import { put } from '../git/plainGit.js';
import { everyFile, placeOf, Worktrees } from './scene.js';

const briefly = ({ path, branch, is_main }: Worktree) => ({ path, branch, is_main });

test('every worktree is listed, from each of them, and no byte is changed', () => {
  const made = new Worktrees();
  const one = made.add('feature/one');
  const two = made.add('fix/two', join(made.root, '.claude/worktrees/two'));
  made.git.run(made.root, 'worktree', 'add', '-q', '--detach', join(made.folder, 'elsewhere'));
  put(join(one, 'new.txt'), 'new\n');
  made.git.commitAll(one, 'new');
  appendFileSync(join(two, 'a.txt'), 'changed\n');
  const before = everyFile(made.folder);
  const listed = made.list();
  expect(listed.worktrees.map(briefly)).toEqual([
    { path: made.root, branch: 'main', is_main: true },
    { path: join(made.folder, 'elsewhere'), branch: null, is_main: false },
    { path: one, branch: 'feature/one', is_main: false },
    { path: two, branch: 'fix/two', is_main: false },
  ]);
  for (const directory of [one, join(two, 'sub'), join(made.folder, 'elsewhere')])
    expect(made.list(directory)).toEqual(listed);
  expect(everyFile(made.folder)).toEqual(before);
});

test('commit, times, and whether it is merged, each against the default branch', () => {
  const made = new Worktrees();
  const one = made.add('feature/one');
  put(join(one, 'new.txt'), 'new\n');
  made.git.commitAll(one, 'new');
  const head = made.git.run(one, 'rev-parse', 'HEAD').trim();
  const last_commit_at = Number(made.git.run(one, 'log', '-1', '--format=%ct')) * 1000;
  expect(made.at(one)).toMatchObject({ head, last_commit_at, merged: { merged: 'no', why: 'not_merged' } });
  expect(made.at(one).created_at).toBeLessThan(Date.now() + 1000);
  expect(made.at(made.root)).toMatchObject({ merged: null, created_at: null });
  made.git.run(made.root, 'merge', '-q', '--squash', 'feature/one');
  made.git.commitAll(made.root, 'squash');
  expect(made.at(one).merged).toMatchObject({ merged: 'yes', why: 'nothing_to_change' });
});

test('a checkout whose repository is elsewhere, such as a submodule, is the main worktree', () => {
  const made = new Worktrees();
  const separate = join(made.folder, 'separate');
  made.git.run(made.folder, 'clone', '-q', `--separate-git-dir=${join(made.folder, 'its.git')}`, made.root, separate);
  expect(made.list(join(separate, 'sub')).worktrees.map(briefly)).toEqual([
    { path: separate, branch: 'main', is_main: true },
  ]);
  made.git.run(made.root, 'submodule', '--quiet', 'add', separate, 'module');
  const module = join(made.root, 'module');
  expect(made.list(module).worktrees.map(briefly)).toEqual([{ path: module, branch: 'main', is_main: true }]);
  expect(made.list().worktrees.map(briefly)).toEqual([{ path: made.root, branch: 'main', is_main: true }]);
});

describe('the default branch', () => {
  test('is taken from the remote where that is ahead, and it is said how far', () => {
    const made = new Worktrees();
    const clone = join(made.folder, 'clone');
    made.git.run(made.folder, 'clone', '-q', made.root, clone);
    expect(made.list(clone).base).toMatchObject({ branch: 'main', name: 'main', behind: null });
    made.git.commitAll(made.root, 'third');
    made.git.commitAll(made.root, 'fourth');
    made.git.run(clone, 'fetch', '-q');
    const commit = made.git.run(made.root, 'rev-parse', 'HEAD').trim();
    expect(made.list(clone).base).toEqual({ branch: 'main', name: 'origin/main', commit, behind: 2 });
    made.git.commitAll(clone, 'of this one');
    expect(made.list(clone).base).toMatchObject({ name: 'main', behind: null });
    made.git.run(clone, 'checkout', '-q', '--detach');
    made.git.run(clone, 'branch', '-q', '-D', 'main');
    expect(made.list(clone).base).toMatchObject({ name: 'origin/main', commit, behind: null });
  });

  test.each([
    ['trunk', 'trunk', 'as the remote says, whatever it is called'],
    ['master', 'master', 'by its usual name'],
  ])('is %s', (name, expected, how) => {
    const made = new Worktrees();
    made.git.run(made.root, 'branch', '-m', name);
    const clone = join(made.folder, 'clone');
    made.git.run(made.folder, 'clone', '-q', made.root, clone);
    made.git.run(clone, 'checkout', '-q', '-b', 'other');
    if (how.startsWith('by')) made.git.run(clone, 'remote', 'remove', 'origin');
    expect(made.list(clone).base?.branch).toBe(expected);
  });

  test('is not known before the first commit', () => {
    const made = new Worktrees();
    const empty = join(made.folder, 'empty');
    mkdirSync(empty);
    made.git.run(empty, 'init', '-q');
    expect(made.list(empty)).toMatchObject({ base: null, worktrees: [{ branch: 'main', head: null, merged: null }] });
  });
});

describe('changes', () => {
  test('are tracked and new files, also where a worktree is inside another one', () => {
    const made = new Worktrees();
    const inner = made.add('fix/inner', join(made.root, '.claude/worktrees/inner'));
    expect(made.at(made.root).dirt).toEqual({ tracked: [], untracked: [] });
    put(join(inner, 'new in it.txt'), '');
    put(join(made.root, '.claude/settings.json'), '');
    appendFileSync(join(made.root, 'a.txt'), 'changed\n');
    made.git.run(made.root, 'mv', 'b.txt', 'with a space.txt');
    rmSync(join(made.root, 'sub/c.txt'));
    expect(made.at(made.root).dirt).toEqual({
      tracked: ['a.txt', 'b.txt', 'sub/c.txt', 'with a space.txt'],
      untracked: ['.claude/settings.json'],
    });
    expect(made.at(inner).dirt).toEqual({ tracked: [], untracked: ['new in it.txt'] });
  });

  test('are those in a submodule, too, and in one inside it; no program of its configuration runs', () => {
    const made = new Worktrees();
    const path = made.add('feature/one');
    const inner = made.git.repository(join(made.folder, 'inner'));
    const outer = made.git.repository(join(made.folder, 'outer'));
    made.git.run(outer, 'submodule', '--quiet', 'add', inner, 'nested');
    made.git.commitAll(outer, 'a submodule');
    made.git.run(path, 'submodule', '--quiet', 'add', outer, 'module');
    made.git.run(path, 'submodule', '--quiet', 'update', '--init', '--recursive');
    made.git.commitAll(path, 'a submodule');
    expect(made.at(path).dirt).toEqual({ tracked: [], untracked: [] });
    appendFileSync(join(path, 'module/a.txt'), 'changed\n');
    put(join(path, 'module/nested/new.txt'), '');
    const mark = join(made.folder, 'has run');
    made.git.run(join(path, 'module'), 'config', 'core.fsmonitor', `touch '${mark}'`);
    expect(made.at(path).dirt).toEqual({ tracked: ['module/a.txt'], untracked: ['module/nested/new.txt'] });
    expect(existsSync(mark)).toBe(false);
    const index = made.git.run(join(path, 'module'), 'rev-parse', '--git-path', 'index').trim();
    truncateSync(index, 20);
    const unanswered = `${join(path, 'module')}: ${index}: index file smaller than expected`;
    expect(made.at(path)).toMatchObject({ dirt: null, unanswered });
  });

  test('another repository inside is a new folder', () => {
    const made = new Worktrees();
    made.git.repository(join(made.root, 'other'));
    expect(made.at(made.root).dirt?.untracked).toEqual(['other/']);
  });
});

describe('what git is in the middle of', () => {
  const conflicting = () => {
    const made = new Worktrees();
    const path = made.add('feature/one');
    put(join(path, 'a.txt'), 'side\n');
    made.git.commitAll(path, 'side');
    put(join(made.root, 'a.txt'), 'main\n');
    made.git.commitAll(made.root, 'main');
    return { made, path };
  };

  test.each([
    ['rebase', 'feature/one', ['rebase', 'main']],
    ['rebase', 'feature/one', ['rebase', '--apply', 'main']],
    ['merge', null, ['merge', 'main']],
    ['cherry-pick', null, ['cherry-pick', 'main']],
    ['revert', null, ['revert', '--no-edit', 'HEAD~1']],
    ['bisect', 'feature/one', ['bisect', 'start', 'HEAD', 'HEAD~1']],
  ])('%s', (kind, branch, args) => {
    const { made, path } = conflicting();
    if (kind === 'revert') {
      put(join(path, 'a.txt'), 'side again\n');
      made.git.commitAll(path, 'side again');
    }
    expect(made.at(path).operation).toBeNull();
    made.git.say(path, args);
    expect(made.at(path)).toMatchObject({ branch: 'feature/one', operation: { kind, branch } });
    if (kind !== 'bisect') expect(made.at(path).dirt?.tracked).toEqual(['a.txt']);
    // In a rebase and a bisect, what is checked out is merged; the branch is not.
    expect(made.at(path).merged).toMatchObject({ merged: 'no' });
  });
});

describe('a lock', () => {
  const lock = (reason: string) => {
    const made = new Worktrees();
    const path = made.add('feature/one');
    made.git.run(made.root, 'worktree', 'lock', ...(reason === '' ? [] : ['--reason', reason]), path);
    return made.at(path).lock;
  };

  test('has its reason', () => {
    expect(lock('on a disk in the drawer')).toEqual({ reason: 'on a disk in the drawer', by: null });
    expect(lock('')).toEqual({ reason: '', by: null });
  });

  test("of Claude Code names a process, and it is seen whether that lives; a pid that was reused is another's", async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    afterThisTest(() => end(child));
    const { pid, pid_start } = readProcessIdentity('host', child.pid);
    const reason = (start: string) => `claude session happy fox (pid ${pid} start ${start})`;
    expect(lock(reason(pid_start))?.by).toEqual({ name: 'happy fox', pid, pid_start, is_alive: true });
    expect(lock(reason('1'))?.by?.is_alive).toBe(false);
    await end(child);
    expect(lock(reason(pid_start))?.by?.is_alive).toBe(false);
  });
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('leftovers', () => {
  test('a registration without a folder keeps its branch and its commit', () => {
    const made = new Worktrees();
    const path = made.add('feature/one');
    put(join(path, 'new.txt'), 'new\n');
    made.git.commitAll(path, 'new');
    rmSync(path, { recursive: true });
    const head = made.git.run(made.root, 'rev-parse', 'feature/one').trim();
    expect(made.at(path)).toMatchObject({
      ...{ branch: 'feature/one', head, dirt: null, merged: { merged: 'no' } },
      ghost: { kind: 'folder_gone', answers_for: null },
    });
  });

  test('a folder without a registration, and a copy of a worktree', () => {
    const made = new Worktrees();
    const path = made.add('feature/one');
    const copy = join(`${made.root}.worktrees`, 'copy');
    cpSync(path, copy, { recursive: true });
    expect(made.at(copy).ghost?.kind).toBe('unregistered');
    rmSync(path, { recursive: true });
    expect(made.at(copy).ghost?.kind).toBe('moved');
    made.git.run(made.root, 'worktree', 'repair', copy);
    expect(made.at(copy)).toMatchObject({ ghost: null, branch: 'feature/one' });
    cpSync(copy, path, { recursive: true });
    rmSync(join(made.root, '.git/worktrees/feature-one'), { recursive: true });
    expect(made.at(path)).toMatchObject({ ghost: { kind: 'unregistered' }, folder: null, head: null });
  });

  test('a folder inside a checkout that lost its `.git`, registered or not: git there answers for the checkout', () => {
    const made = new Worktrees();
    const path = made.add('worktree-one', join(made.root, '.claude/worktrees/one'));
    rmSync(join(path, '.git'));
    const ghost = { kind: 'lost_git', answers_for: made.root };
    expect(made.at(path)).toMatchObject({ ghost, branch: 'worktree-one', dirt: null });
    made.git.run(made.root, 'worktree', 'prune');
    expect(made.at(path)).toMatchObject({ ghost, branch: null });
  });

  test('a folder next to the checkout that lost its `.git` is in no repository', () => {
    const made = new Worktrees();
    const path = made.add('feature/one');
    rmSync(join(path, '.git'));
    expect(made.at(path).ghost).toEqual({ kind: 'lost_git', answers_for: null });
  });

  test('a folder in the place of another, and a registration that says nothing', () => {
    const made = new Worktrees();
    const path = made.add('feature/one');
    renameSync(path, join(made.folder, 'away'));
    made.git.repository(path);
    expect(made.at(path).ghost).toEqual({ kind: 'replaced', answers_for: path });
    const folder = join(made.root, '.git/worktrees/feature-one');
    rmSync(join(folder, 'gitdir'));
    expect(made.at(folder).ghost?.kind).toBe('unreadable');
  });

  test("a folder next to a worktree that is no worktree is nothing, nor is one of the repository's own files", () => {
    const made = new Worktrees();
    for (const type of TYPES) put(join(made.root, type, 'images/one.png'), 'p');
    made.add('feature/one', join(made.folder, 'elsewhere'));
    mkdirSync(join(made.folder, 'plain'));
    made.git.repository(join(made.folder, 'other'));
    expect(made.list().worktrees.filter(({ ghost }) => ghost !== null)).toEqual([]);
  });
});

describe('a `.bare` container', () => {
  const container = (link: boolean) => {
    const made = new Worktrees();
    const home = join(made.folder, 'container');
    mkdirSync(home);
    made.git.run(made.folder, 'clone', '-q', '--bare', made.root, join(home, '.bare'));
    if (link) put(join(home, '.git'), 'gitdir: ./.bare\n');
    const add = (branch: string, ...more: string[]) =>
      made.git.run(join(home, '.bare'), 'worktree', 'add', '-q', join(home, branch), ...more);
    add('main', 'main');
    add('feature/one', '-b', 'feature/one');
    return { made, home };
  };

  test.each([
    ['with', true],
    ['without', false],
  ])('%s a `.git` of its own has worktrees and no checkout', (_, link) => {
    const { made, home } = container(link);
    const listed = made.list(home);
    expect(listed.base?.name).toBe('main');
    expect(listed.worktrees.map(briefly)).toEqual([
      { path: join(home, 'feature/one'), branch: 'feature/one', is_main: false },
      { path: join(home, 'main'), branch: 'main', is_main: false },
    ]);
    expect(listed.worktrees.map(({ ghost, dirt }) => [ghost, dirt?.tracked])).toEqual([
      [null, []],
      [null, []],
    ]);
    expect(made.list(join(home, 'feature/one/sub'))).toEqual(listed);
    expect(placeOf(join(home, 'main'))).toMatchObject({ home, id: placeOf(home).id });
  });

  test('in a folder of a type, a worktree that has lost its `.git` is named', () => {
    const { made, home } = container(true);
    const path = join(home, 'feature/lost');
    mkdirSync(path);
    mkdirSync(join(home, 'fix'));
    const found = made.list(home).worktrees.filter(({ ghost }) => ghost !== null);
    expect(found).toMatchObject([{ path, ghost: { kind: 'lost_git' } }]);
  });
});

test('the id of a repository is the same in all its worktrees, and another in a clone', () => {
  const made = new Worktrees();
  const path = made.add('feature/one');
  const { id } = placeOf(made.root);
  expect(id).toMatch(/^repo_[0-9a-f]{16}$/);
  expect(placeOf(join(path, 'sub')).id).toBe(id);
  made.git.run(made.folder, 'clone', '-q', made.root, 'clone');
  expect(placeOf(join(made.folder, 'clone')).id).not.toBe(id);
  mkdirSync(join(made.folder, 'plain'));
  expect(repositoryAt(join(made.folder, 'plain'))).toBeNull();
});

test('a worktree is found by its branch, folder, name, or path; what is unclear stays unclear', () => {
  const made = new Worktrees();
  const login = made.add('feature/login');
  const other = made.add('fix/login');
  const claude = made.add('worktree-fox', join(made.root, '.claude/worktrees/fox'));
  const { worktrees } = made.list();
  const named = (name: string) => worktreesNamed(worktrees, name, made.folder).map(({ path }) => path);
  for (const name of ['feature/login', 'feature-login', login, 'work.worktrees/feature-login'])
    expect([name, named(name)]).toEqual([name, [login]]);
  for (const name of ['fox', 'worktree-fox']) expect(named(name)).toEqual([claude]);
  expect(named('login')).toEqual([login, other]);
  expect(() => worktreeAmong(worktrees, 'login', made.folder)).toThrow(
    `"login" may be one of 2 worktrees. Name one by its folder:\n  ${login}\n  ${other}`,
  );
  expect(named('main')).toEqual([made.root]);
  expect(named('nothing')).toEqual([]);
});

test('the room that it takes, without the worktrees inside it', () => {
  const made = new Worktrees();
  const inner = made.add('fix/inner', join(made.root, '.claude/worktrees/inner'));
  const roots = new Set(made.list().worktrees.map(({ path }) => path));
  const before = sizeOf(made.root, roots);
  put(join(inner, 'large'), 'x'.repeat(1_000_000));
  expect(sizeOf(made.root, roots)).toBe(before);
  expect(sizeOf(inner, roots)).toBeGreaterThan(1_000_000);
  expect(readFileSync(join(inner, 'large'), 'utf8')).toHaveLength(1_000_000);
});
