/** A removal whose process cannot be seen for a moment was not cut off: a second process would remove beside it. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { standInForFiles, whileFailing } from '../../harness/failingFiles.js';
import { testFolder } from '../../harness/folder.js';

// covers: memory/worktrees/records.ts

standInForFiles();
const { cutOffRemovals, runningRemovals, writeRecord } = await import('../../../memory/worktrees/records.js');
const { readProcessIdentity } = await import('../../../src/host/identity.js');

test('the removal is running, also while the kernel says nothing of its process', () => {
  const common = testFolder();
  const [here, by] = [readProcessIdentity('here'), readProcessIdentity('here', process.ppid)];
  const path = join(common, 'trees/one');
  writeRecord(common, {
    ...{ v: 1, name: 'one', path, doomed: join(common, 'trees/.one.removing'), folder: join(common, 'worktrees/one') },
    ...{ branch: null, tip: null, kept: null, at: 1, head: null, filters: null, own_files: [], is_sparse: false },
    ...{
      has_files: false,
      has_conflicts: false,
      has_forgotten: false,
      is_detached: false,
      way: 'merge',
      is_remote_removed: false,
      is_confirmed: true,
      by,
    },
  });
  const look = () => [cutOffRemovals(common, here), runningRemovals(common, here)].map(({ length }) => length);
  expect(look()).toEqual([0, 1]);
  expect(whileFailing(`/proc/${by.pid}/stat`, 'EMFILE', look)).toEqual([0, 1]);
  expect(cutOffRemovals(common, { ...here, pid_namespace: '1' })).toHaveLength(1);
});
