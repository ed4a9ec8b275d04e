// covers: memory/worktrees/table.ts
/** `watchkeeper worktree` where the refs of the repository are in a table that only git reads. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Ends, put } from './endScene.js';

const hasTables = spawnSync('git', ['init', '-h'], { encoding: 'utf8' }).stdout.includes('ref-format');

(hasTables ? describe : describe.skip)('refs in a table (skipped before git 2.45)', () => {
  let made: Ends;
  let path: string;

  beforeEach(() => {
    made = new Ends({ options: ['--ref-format=reftable'] });
    path = made.add('feature/one', join(made.folder, 'elsewhere'));
    put(join(path, 'one.txt'), 'one\n');
    made.git.commitAll(path, 'one');
  });

  const discard = () => made.ended([path, '--discard', 'feature/one']);
  const lost = (message: string) =>
    made.git.run(
      path,
      'commit-tree',
      '-m',
      message,
      '-p',
      'HEAD',
      made.git.run(path, 'rev-parse', 'HEAD^{tree}').trim(),
    );

  test('a worktree is called by its branch, and started on none that is taken', () => {
    expect(made.at(path).branch).toBe('feature/one');
    expect(made.list().base).toMatchObject({ branch: 'main' });
    expect(made.callIn(made.root, ['worktree', 'path', 'feature/one']).out).toBe(`${path}\n`);
    const start = ['worktree', 'start', 'two', '--type', 'fix', '--yes'];
    const { code, err } = made.callIn(made.root, [...start, '--branch', 'feature/one']);
    expect({ code, err }).toEqual({ code: 1, err: `feature/one is checked out already, in ${path}\n` });
    expect(made.callIn(made.root, start).code).toBe(0);
    expect(made.at(join(`${made.root}.worktrees`, 'fix-two')).branch).toBe('fix/two');
  });

  test('the default branch is found by the checkout that is on it', () => {
    made.git.run(made.root, 'branch', '-m', 'trunk');
    expect(made.list().base).toMatchObject({ branch: 'trunk' });
  });

  test('a merge moves the files of the checkout that is on the target', async () => {
    const { code, commit, way_back } = await made.ended(['feature/one', '--merge']);
    expect({ code, head: made.head() }).toEqual({ code: 0, head: commit });
    expect(readFileSync(join(made.root, 'one.txt'), 'utf8')).toBe('one\n');
    expect(made.git.run(made.root, 'status', '--porcelain')).toBe('');
    expect(made.has('refs/heads/feature/one')).toBe(false);
    made.wayBack(way_back);
    expect(made.at(path).branch).toBe('feature/one');
  });

  test.each(['cherry-pick', 'revert'])('a %s in progress is a reason', async (kind) => {
    put(join(path, 'one.txt'), 'two\n');
    made.git.commitAll(path, 'two');
    put(join(path, 'one.txt'), 'three\n');
    made.git.commitAll(path, 'three');
    expect(made.git.say(path, [kind, ...(kind === 'revert' ? ['--no-edit', 'HEAD~1'] : ['HEAD~2'])]).code).toBe(1);
    expect((await discard()).reasons).toMatchObject([{ reason: 'operation', words: `a ${kind} is in progress` }]);
  });

  test('what only logs and refs of the worktree know is kept, and files come back', async () => {
    const before = made.head(path);
    made.git.run(path, 'commit', '-q', '--amend', '-m', 'amended');
    const tip = made.head(path);
    const [own, special, alone] = [lost('own').trim(), lost('special').trim(), lost('alone').trim()];
    made.git.run(path, 'update-ref', '--create-reflog', 'refs/worktree/mine', own);
    made.git.run(path, 'update-ref', 'refs/worktree/mine', alone);
    made.git.run(path, 'update-ref', 'ORIG_HEAD', special);
    put(join(path, 'one.txt'), 'changed\n');
    const { removed, kept, way_back } = await discard();
    expect(removed).toBe(true);
    made.git.run(made.root, 'reflog', 'expire', '--expire=now', '--all');
    made.git.run(made.root, 'gc', '-q', '--prune=now');
    const found = made.git.run(made.root, 'rev-list', kept ?? '').split('\n');
    expect([before, own, special, alone].filter((commit) => !found.includes(commit))).toEqual([]);
    made.wayBack(way_back);
    expect([made.head(path), made.at(path).branch]).toEqual([tip, 'feature/one']);
    expect(made.git.run(path, 'status', '--porcelain')).toBe(' M one.txt\n');
    expect(made.git.run(path, 'rev-parse', 'refs/worktree/mine').trim()).toBe(alone);
  });

  test('a branch that another worktree has, too, stays', async () => {
    made.git.run(made.root, 'worktree', 'add', '-q', '--force', join(made.folder, 'other'), 'feature/one');
    const { err } = await made.end([path, '--discard', 'feature/one']);
    expect(err).toContain('the branch feature/one stays: it is checked out in ');
    expect(made.has('refs/heads/feature/one')).toBe(true);
  });
});
