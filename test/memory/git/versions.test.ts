// covers: memory/look/keptElsewhere.ts
/** Versions of files that git keeps elsewhere: people put work aside, and then look for it. */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Git } from '../../../memory/git/git.js';
import { testFolder } from '../../harness/folder.js';
import { PlainGit } from './plainGit.js';

/** All of the repository's commits. Git takes a second of the first years for a time of today. */
const BEFORE = 1e12;
const PATHS = ['a.txt', 'b.txt', 'new file', 'sub/c.txt'];

let git: PlainGit;
let root: string;

beforeEach(() => {
  const folder = testFolder();
  git = new PlainGit(folder);
  root = git.repository(join(folder, 'work'));
});

const found = (at = BEFORE, paths = PATHS) => {
  const versions = new Git(root, git.variables).versionsElsewhere(paths, at);
  return versions === null ? null : Object.fromEntries(versions);
};
const write = (path: string, text = 'other\n') => writeFileSync(join(root, path), text);

describe('in the stash', () => {
  test('are files that were changed, new or staged, and no others', () => {
    expect(found()).toEqual({});
    write('a.txt');
    write('new file');
    git.run(root, 'stash', '--include-untracked');
    expect(found()).toEqual({ 'a.txt': 'stash@{0}', 'new file': 'stash@{0}' });
    write('b.txt', 'another\n');
    git.run(root, 'add', '.');
    git.run(root, 'stash');
    expect(found()).toEqual({ 'a.txt': 'stash@{1}', 'new file': 'stash@{1}', 'b.txt': 'stash@{0}' });
    expect(found(BEFORE, ['b.txt'])).toEqual({ 'b.txt': 'stash@{0}' });
    git.run(root, 'stash', 'drop');
    expect(found()).toEqual({ 'a.txt': 'stash@{0}', 'new file': 'stash@{0}' });
  });

  test('is nothing that was put there before', () => {
    write('a.txt');
    git.run(root, 'stash');
    expect(found(Date.now() + 3_600_000)).toEqual({});
  });

  test('no file is found if its commit is gone', () => {
    write('a.txt');
    git.run(root, 'stash');
    const commit = git.run(root, 'rev-parse', 'stash').trim();
    rmSync(join(root, '.git/objects', commit.slice(0, 2), commit.slice(2)));
    expect(found() ?? {}).toEqual({});
  });
});

describe('on a branch that was left', () => {
  test('are files that were committed there, not those that were deleted or are in what is checked out', () => {
    git.run(root, 'checkout', '-q', '-b', 'half/done');
    write('a.txt');
    rmSync(join(root, 'b.txt'));
    git.run(root, 'add', '-A');
    git.run(root, 'commit', '-qm', 'half');
    expect(found()).toEqual({});
    git.run(root, 'checkout', '-q', 'main');
    expect(found()).toEqual({ 'a.txt': 'branch half/done' });
    git.run(root, 'branch', '-q', '-D', 'half/done');
    expect(found()).toEqual({ 'a.txt': 'branch half/done' });
    git.run(root, 'merge', '-q', git.run(root, 'rev-parse', 'HEAD@{1}').trim());
    expect(found()).toEqual({});
  });

  test('is nothing of a branch that was not checked out here', () => {
    const other = join(root, '../other');
    git.run(root, 'worktree', 'add', '-q', '-b', 'theirs', other);
    writeFileSync(join(other, 'a.txt'), 'theirs\n');
    git.run(other, 'commit', '-qam', 'theirs');
    git.run(other, 'checkout', '-q', '--detach', 'main');
    expect(found()).toEqual({});
  });

  test('is found by the end of a long log', () => {
    git.run(root, 'checkout', '-q', '-b', 'half');
    write('a.txt');
    git.run(root, 'commit', '-qam', 'half');
    const log = join(root, '.git/logs/HEAD');
    const id = git.run(root, 'rev-parse', 'HEAD').trim();
    appendFileSync(log, `${id} ${id} a <a@example.com> 900000000 +0000\treset: moving to HEAD\n`.repeat(10_000));
    git.run(root, 'checkout', '-q', 'main');
    expect(found()).toEqual({ 'a.txt': 'branch half' });
  });
});

test('a commit from which its branch was set back is found', () => {
  write('a.txt');
  git.run(root, 'commit', '-qam', 'half');
  git.run(root, 'reset', '-q', '--hard', 'HEAD~1');
  expect(found()).toEqual({ 'a.txt': 'HEAD@{1}' });
});

describe('it is not known', () => {
  test.each<[string, () => void]>([
    ['whether the stash has one, if its log cannot be read', () => mkdirSync(join(root, '.git/logs/refs/stash'))],
    ['whether one was left, without a log of what was checked out', () => rmSync(join(root, '.git/logs/HEAD'))],
    ['in a repository whose logs are in a table', () => mkdirSync(join(root, '.git/reftable'))],
    [
      'if more was left than is looked at',
      () => {
        const [one, other] = git.run(root, 'rev-list', '--max-count=2', 'HEAD').split('\n');
        const line = `${one} ${other} a <a@example.com> 2000000000 +0000\treset: moving to HEAD\n`;
        appendFileSync(join(root, '.git/logs/HEAD'), line.repeat(10_000));
      },
    ],
  ])('%s', (_, spoil) => {
    expect(found()).toEqual({});
    spoil();
    expect(found()).toBeNull();
  });
});

test('before the first commit, there are none', () => {
  const empty = join(testFolder(), 'empty');
  mkdirSync(empty);
  git.run(empty, 'init', '-q');
  expect(new Git(empty, git.variables).versionsElsewhere(PATHS, BEFORE)).toEqual(new Map());
});
