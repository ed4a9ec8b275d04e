// covers: memory/worktrees/contents.ts memory/worktrees/reflog.ts memory/worktrees/staged.ts
/** Random worktrees, ended in every way and killed on the way: nothing is lost. `npm run prove -- worktree-ends` takes 200 of them. */
import { expect, test } from '@jest/globals';
import { testFolder } from '../harness/folder.js';
import { endMany } from './ends.js';

test('twelve random worktrees are ended, some of them killed, and everything comes back', () => {
  const { faults, removed, back, kills } = endMany(testFolder(), 12, 7);
  expect(faults).toEqual([]);
  expect(back).toBe(removed);
  expect(removed).toBeGreaterThan(6);
  expect(kills).toBeGreaterThan(5);
}, 300_000);
