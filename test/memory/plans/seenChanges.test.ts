/** Changes that no phase names are those of the checkout: what an agent did in a worktree below it is a change there. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { newStep } from '../../../memory/fold/newStep.js';
import type { ObservedFile } from '../../../memory/observed/files.js';
import { unattributedChanges } from '../../../memory/plans/seenChanges.js';
import { Worktrees } from '../worktrees/scene.js';

test('a file in another worktree below the checkout is unattributed nowhere', () => {
  const made = new Worktrees();
  const nested = made.add('fix/nested', join(made.root, 'trees/nested'));
  const file: ObservedFile = { change: 'modified', from: null, at: 5, tool_use_id: null, since: 1 };
  const names = ['a.ts', 'trees/nested/b.ts', join(nested, 'c.ts'), '.claude/worktrees/gone/d.ts'];
  const lists = { blocked_by: [], agents: [], planned_files: [] };
  const planned = newStep({ id: '1', external_id: null, title: 'one', priority: undefined, parallel: false, ...lists });
  const step = { ...planned, status: 'completed' as const, spans: [{ from: 1, until: 9 }] };
  const record = {
    log: { steps: new Map([['1', step]]) },
    fold: { files: new Map(names.map((name) => [name, file])) },
  };
  expect(unattributedChanges(record, made.root)).toEqual(['a.ts']);
});
