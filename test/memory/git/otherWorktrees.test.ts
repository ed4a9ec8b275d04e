/** A path in another worktree of the repository is no path of the checkout around it. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { otherWorktreesIn } from '../../../memory/git/otherWorktrees.js';
import { Worktrees } from '../worktrees/scene.js';

test('of a registered worktree anywhere below, and of one of Claude Code that is gone; no other repository, and not this one', () => {
  const made = new Worktrees();
  const { root, git } = made;
  made.add('fix/nested', join(root, 'trees/nested'));
  const aside = made.add('worktree-aside', join(root, '.claude/worktrees/aside'));
  git.run(root, 'worktree', 'remove', '--force', aside);
  rmSync(aside, { recursive: true, force: true });
  git.run(root, 'clone', '-q', root, 'clone');
  mkdirSync(join(root, '.claude/agents'), { recursive: true });
  const isOther = otherWorktreesIn(root);
  const others = [
    'trees/nested/a.ts',
    'trees/nested/b/c.ts',
    join(root, 'trees/nested/a.ts'),
    '.claude/worktrees/aside/a.ts',
  ];
  expect(others.map(isOther)).toEqual([true, true, true, true]);
  const own = [
    'a.ts',
    'trees/a.ts',
    'clone/a.ts',
    '.claude/agents/a.md',
    '../elsewhere/a.ts',
    join(made.folder, 'a.ts'),
  ];
  expect(own.map(isOther)).toEqual(own.map(() => false));
  // Seen from the inner one, nothing of it is another's.
  expect(otherWorktreesIn(join(root, 'trees/nested'))('a.ts')).toBe(false);
});
