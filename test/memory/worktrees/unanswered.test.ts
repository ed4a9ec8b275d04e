// covers: memory/worktrees/table.ts memory/worktrees/place.ts memory/worktrees/kept.ts memory/worktrees/conversions.ts memory/worktrees/removal.ts
/** A question that git does not answer has no answer: no branch counts as free, no ref as gone, and no file as written byte for byte. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { withRepository } from '../../../memory/git/repository.js';
import { conversionsOf } from '../../../memory/worktrees/conversions.js';
import { forgetKept, keptRefs } from '../../../memory/worktrees/kept.js';
import { placeOnBranch, registeredIn } from '../../../memory/worktrees/place.js';
import type { Removal } from '../../../memory/worktrees/records.js';
import { finishRemoval } from '../../../memory/worktrees/removal.js';
import { branchIn } from '../../../memory/worktrees/table.js';
import { put } from '../git/plainGit.js';
import { Worktrees } from './scene.js';

const LIMIT_MS = 10_000;
const NOT_ANSWERED = () => null;

/** Finishes the removal of a worktree whose folder is gone, while git does not say what is checked out where. */
function finished(made: Worktrees, tip: string) {
  const [common, gone] = [join(made.root, '.git'), join(made.folder, 'gone')];
  const removal: Removal = {
    ...{ v: 1, name: 'feature/one', path: gone, doomed: gone, folder: gone, branch: 'feature/one', tip, head: tip },
    ...{ kept: null, at: 0, has_files: false, has_conflicts: false, has_forgotten: false, filters: null },
    ...{
      own_files: [],
      is_sparse: false,
      is_detached: false,
      way: 'merge',
      is_remote_removed: false,
      is_confirmed: true,
    },
  };
  const removing = { remote: null, repository: { common, askFolder: NOT_ANSWERED } };
  return finishRemoval(common, removal, removing, made.git.variables);
}

describe('refs in a table', () => {
  let made: Worktrees;
  let common: string;

  beforeEach(() => {
    made = new Worktrees();
    common = join(made.root, '.git');
    mkdirSync(join(common, 'reftable'));
  });

  test.each<[string | null, string | null]>([
    [null, 'unanswered'],
    ['\n', null],
    ['main\n', 'here'],
  ])('git says %j of what is checked out', (said, expected) => {
    const found = placeOnBranch({ common, askFolder: () => said }, 'main');
    expect(found === made.root ? 'here' : found).toBe(expected);
  });

  test('git itself names the branch of each worktree, also one without a commit', () => {
    made.add('fix/one');
    made.git.run(made.add('fix/detached'), 'checkout', '-q', '--detach');
    made.git.run(made.add('fix/unborn'), 'checkout', '-q', '--orphan', 'fix/other');
    const { variables } = made.git;
    const all = [common, ...registeredIn(common).map(({ folder }) => folder)];
    const asked = { about: 'files', preparingMs: LIMIT_MS, askingMs: LIMIT_MS } as const;
    const branches = withRepository(made.root, variables, asked, (repository) =>
      all.map((folder) => branchIn(repository, folder)),
    );
    expect(new Set(branches)).toEqual(new Set(['main', null, 'fix/one', 'fix/other']));
  });

  test('a branch that may be checked out elsewhere stays, and the way back is to its commit alone', () => {
    made.git.run(made.root, 'branch', 'feature/one');
    const tip = made.git.run(made.root, 'rev-parse', 'main').trim();
    const ended = finished(made, tip);
    expect(ended).toMatchObject({
      fault: null,
      branch_removed: false,
      removal: { tip: null, is_detached: true },
      asides: ['the branch feature/one stays: git does not say whether it is checked out elsewhere'],
    });
    expect(made.git.run(made.root, 'rev-parse', 'feature/one').trim()).toBe(tip);
  });

  test('a record that cannot be written any more does not hide what is gone', () => {
    put(join(common, 'watchkeeper'), 'in the place of the folder of records');
    const { fault, removal, asides } = finished(made, made.git.run(made.root, 'rev-parse', 'main').trim());
    expect([fault, removal.is_detached]).toEqual([null, true]);
    expect(asides[1]).toContain(`the record of the removal is not put away in ${common}: `);
  });
});

test('a ref that keeps something is not said to be gone', () => {
  const made = new Worktrees();
  const common = join(made.root, '.git');
  const ref = 'refs/watchkeeper/removed/one-20260131T093000Z';
  made.git.run(made.root, 'update-ref', ref, 'main');
  expect(existsSync(join(common, ref))).toBe(true);
  expect(keptRefs({ common, ask: NOT_ANSWERED })).toBeNull();
  expect(forgetKept({ common, ask: NOT_ANSWERED }, ref, made.git.variables)).toBe(false);
});

test.each<[string, string | null, readonly string[] | null]>([
  ['no settings', null, []],
  ['none about line ends', 'user.name\nA\0', null],
  ['one that ends lines with CR', 'core.autocrlf\nfalse\0core.autocrlf\nTrue\0', []],
  ['one without a value, which means yes', 'core.autocrlf\0', []],
  ['one that was taken back', 'core.autocrlf\ntrue\0core.autocrlf\ninput\0', null],
])('files of which git says %s', (_, settings, expected) => {
  const askIn = (_: unknown, [word]: readonly string[]) =>
    word === 'config' ? settings : 'a.txt\0text\0unspecified\0a.txt\0filter\0unspecified\0';
  expect(conversionsOf({ askIn }, { root: '/', folder: '/' }, ['a.txt'])).toEqual(expected);
});
