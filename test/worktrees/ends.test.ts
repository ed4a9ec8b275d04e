// covers: memory/worktrees/contents.ts memory/worktrees/reflog.ts memory/worktrees/staged.ts
/** Random worktrees, ended in every way and killed on the way: nothing is lost. `npm run prove -- worktree-ends` takes 200 of them. */
import { expect, test } from '@jest/globals';
import { testFolder } from '../harness/folder.js';
import { endMany } from './ends.js';

test('five random worktrees are ended, some of them killed, and everything comes back', async () => {
  const { faults, removed, back, kills } = await endMany(testFolder(), 5, 12);
  expect(faults).toEqual([]);
  expect(back).toBe(removed);
  expect(removed).toBeGreaterThan(3);
  expect(kills).toBeGreaterThan(3);
}, 300_000);
