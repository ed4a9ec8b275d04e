/** The printed line brings a removed worktree back, whatever is left of it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { command as worktree } from '../../../bridge/cli/worktree/worktree.js';
import { programRunner } from '../../../bridge/command/runProgram.js';
import { gitFoldersOf } from '../../../memory/git/checkout.js';
import { type BringingBack, type Removed, wayToBringBack } from '../../../memory/worktrees/bringBack.js';
import { UsageError } from '../../../src/errors.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { systemClock } from '../../../src/time.js';
import { runCommand } from '../../bridge/cli/inProcess.js';
import { pathOfDeafGit } from '../../bridge/cli/worktree/deafGit.js';
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

/** @throws if git does not say */
function wayBack(of = removed()): string | null {
  const back = wayToBringBack(of, made.git.variables);
  if (back === 'unanswered') throw new Error('git does not say');
  return back?.line ?? null;
}

/** While git does not answer calls of a pattern. */
function wayBackWithout(calls: string): BringingBack | null {
  const PATH = pathOfDeafGit(join(made.folder, 'programs'), calls);
  return wayToBringBack(removed(), { ...made.git.variables, PATH });
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

describe('after `worktree end`', () => {
  const end = (...words: string[]) =>
    runCommand(worktree, ['end', 'feature/login', ...words], {
      readSettings: () => Promise.reject(new UsageError('no bridge is configured')),
      runProgram: programRunner(made.git.variables, systemClock),
      surroundings: {
        directory: made.root,
        process: readProcessIdentity('host'),
        variables: { ...made.git.variables, WATCHKEEPER_HOME: join(made.folder, 'home') },
      },
    });
  const changes = () => made.git.run(path, 'status', '--porcelain').split('\n').filter(Boolean);

  beforeEach(() => {
    writeFileSync(join(path, 'login.ts'), 'half');
    writeFileSync(join(path, 'new.ts'), 'new');
  });

  test('with its uncommitted changes, and its branch', async () => {
    expect(await end('--discard', 'feature/login')).toMatchObject({ code: 0 });
    expect(existsSync(path)).toBe(false);
    bringBack();
    expect([branchThere(), made.git.run(path, 'rev-parse', 'HEAD').trim()]).toEqual(['feature/login', tip]);
    expect(changes()).toEqual([' M login.ts', '?? new.ts']);
    // It is there again, and is removed by hand: what was kept before is old.
    made.git.run(path, 'commit', '-q', '-a', '-m', 'later');
    made.git.run(made.root, 'worktree', 'remove', '--force', path);
    bringBack();
    expect([changes(), made.git.run(path, 'log', '-1', '--format=%s').trim()]).toEqual([[], 'later']);
  });

  test('not at all while git does not answer: a line for the branch alone would leave the changes out', async () => {
    await end('--discard', 'feature/login');
    for (const calls of [`*'refs/watchkeeper/removed/'*'^{commit}'`, `*'refs/heads/feature/login^{commit}'`])
      expect(wayBackWithout(calls)).toBe('unanswered');
    made.git.run(made.root, 'branch', 'feature/login', tip);
    expect(wayBack()).toContain('worktree add');
    expect(wayBackWithout(`*'refs/heads/feature/login^{commit}'`)).toBe('unanswered');
    expect(wayBackWithout('*')).toBe('unanswered');
  });

  test('a record that would run something is not followed', async () => {
    await end('--discard', 'feature/login');
    const folder = join(removed().common, 'watchkeeper/removed');
    const [name = ''] = readdirSync(folder);
    const record = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const evil of [
      { kept: 'refs/watchkeeper/removed/$(touch;)-20260101T000000Z' },
      { kept: null, head: '$(touch x)' },
    ]) {
      writeFileSync(join(folder, name), JSON.stringify({ ...record, ...evil }));
      expect(wayBack()).not.toContain('touch');
    }
  });
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
