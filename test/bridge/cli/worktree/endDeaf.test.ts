// covers: memory/worktrees/mergeInto.ts memory/worktrees/target.ts memory/worktrees/squash.ts memory/verbs/endMerged.ts memory/verbs/squashMessage.ts memory/worktrees/list.ts
/** While git does not answer one question, `worktree end` and `worktree list` report that, and nothing else. */
import { appendFileSync, existsSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import type { Said } from '../program.js';
import { pathOfDeafGit } from './deafGit.js';
import { Ends, put } from './endScene.js';

const OF_THE_DEFAULT_BRANCH = `*'for-each-ref --format=%(refname)%09%(objectname)%09%(symref)'*`;

let made: Ends;
let path: string;

beforeEach(() => {
  made = new Ends({ branches: ['feature/one'] });
  path = made.placeOf('feature/one');
});

/** Calls a word of `worktree` while git does not answer calls of a pattern. */
async function saidWithout(calls: string, args: readonly string[]): Promise<Said> {
  const { PATH } = made.variables;
  Object.assign(made.variables, { PATH: pathOfDeafGit(join(made.folder, 'programs'), calls) });
  const said = await made.say(args);
  Object.assign(made.variables, { PATH });
  return said;
}

test('a merge says what git does not answer, and changes nothing', async () => {
  made.git.run(made.root, 'branch', 'release');
  const head = made.head();
  const merge = ['end', 'one', '--merge'];
  const unanswered = (words: string) => ({ reasons: [{ reason: 'unanswered', words, remedy: 'try again' }] });
  const cases: readonly [calls: string, args: readonly string[], expected: object][] = [
    [
      `*'refs/heads/release^{commit}'`,
      [...merge, '--into', 'release'],
      unanswered('git does not say where release is'),
    ],
    [OF_THE_DEFAULT_BRANCH, merge, unanswered('git does not say which branch is the default one')],
    [`*' status '*`, merge, unanswered(`git does not say what is in ${path}`)],
    [
      `*' diff-tree -r -z --name-only '*`,
      merge,
      unanswered(`git does not say which files of ${made.root} are in the way of the merge`),
    ],
    [
      `*'refs/heads/main^{commit}'`,
      merge,
      { removed: false, fault: 'git does not say where main is now: try again', kept: null },
    ],
    [
      `*' --get commit.gpgSign'`,
      merge,
      { fault: expect.stringContaining('nothing was merged: git does not say whether it is to be signed') },
    ],
  ];
  for (const [calls, args, expected] of cases) {
    const { code, out } = await saidWithout(calls, [...args, '--json']);
    expect({ calls, code, ...JSON.parse(out) }).toMatchObject({ calls, code: 1, ...expected });
  }
  expect(await saidWithout(`*' log --no-merges '*`, merge)).toMatchObject({ code: 3, out: '' });
  put(join(made.root, 'feature-one.txt'), 'in the way\n');
  expect((await saidWithout(`*' ls-files -z'`, merge)).out).toContain('git does not say which files of ');
  put(join(made.root, '.worktreeinclude'), '.env\n');
  put(join(path, '.env'), 'KEY=1\n');
  expect((await saidWithout(`*' --exclude=.env'*`, ['end', 'one', '--keep-branch'])).out).toContain(
    'git does not say which of its files .worktreeinclude names\n    → try again\n',
  );
  expect([made.head(), existsSync(path), made.has('refs/heads/feature/one')]).toEqual([head, true, true]);
});

test('a folder that git does not answer about after it was renamed is not called changed', async () => {
  const discard = ['end', 'one', '--discard', 'one'];
  const renamed = await saidWithout(`*'.removing-'*' status '*`, discard);
  expect(renamed.code).toBe(1);
  expect(renamed.out).toContain(`it cannot be seen whether ${path} is as it was kept: git cannot list its files`);
  const kept = await saidWithout(`*'rev-parse --verify -q refs/watchkeeper/removed/'*`, discard);
  expect(kept.code).toBe(1);
  expect(kept.out).toMatch(/git does not say whether refs\/watchkeeper\/removed\/\S+ still keeps what /);
  expect(existsSync(path)).toBe(true);
});

test('`end --merged` names those that it cannot judge, and counts those that are perhaps merged', async () => {
  made.git.run(made.root, 'merge', '-q', '--no-ff', '-m', 'm', 'feature/one');
  const two = made.add('feature/two');
  made.git.run(two, 'checkout', '-q', '--orphan', 'fix/apart');
  made.git.commitAll(two, 'without a common history');
  const merged = ['end', '--merged', '--yes'];
  expect(await saidWithout(OF_THE_DEFAULT_BRANCH, merged)).toMatchObject({ code: 3, out: '' });
  for (const calls of [`*' status '*`, `*' ls-files -s '*`, `*' ls-files -z --others '*`]) {
    const { code, out } = await saidWithout(calls, [...merged, '--json']);
    const reasons = [expect.objectContaining({ reason: 'unanswered' })];
    const stays = expect.arrayContaining([expect.objectContaining({ name: 'feature/one', reasons })]);
    expect({ calls, code, ...JSON.parse(out) }).toEqual(expect.objectContaining({ calls, code: 0, ended: [], stays }));
  }
  expect(existsSync(path)).toBe(true);
  const { out } = await made.say(merged);
  expect(out).toContain('removed: ');
  expect(out).toContain('\ngit cannot say whether they are merged, and untouched: 1\n');
  expect(out).not.toContain('not merged, and untouched');
  expect(JSON.parse((await made.say([...merged, '--json'])).out)).toMatchObject({ unmerged: 1, unknown: 1 });
});

test('`list` says what its table leaves out', async () => {
  expect((await made.say(['list'])).err).toBe('');
  made.git.run(made.root, 'update-ref', 'refs/watchkeeper/removed/one-20260131T093000Z', 'main');
  expect(await saidWithout(OF_THE_DEFAULT_BRANCH, ['list'])).toMatchObject({
    code: 0,
    err: 'git did not say which branch is the default one, so not what is merged: try again\n',
  });
  expect(await saidWithout(`*' refs/watchkeeper/removed/'`, ['list', '--json'])).toMatchObject({
    code: 0,
    err: 'git did not say what is kept of removed worktrees: try again\n',
  });
});

test('a git that refuses is quoted, and asking again is no advice', async () => {
  const index = join(made.root, '.git/worktrees/feature-one/index');
  truncateSync(index, 20);
  const why = `${index}: index file smaller than expected`;
  const { reasons } = await made.ended(['one', '--keep-branch']);
  const words = `git does not say what is in ${path}: ${why}`;
  expect(reasons).toEqual([{ reason: 'unanswered', words, remedy: 'put that right, and call this again' }]);
  expect((await made.say(['list'])).out).toContain(`\nfeature/one: git does not say what is changed: ${why}\n`);
  put(join(made.root, '.git/packed-refs'), 'damaged\n');
  expect((await made.say(['list'])).err).toContain(`${join(made.root, '.git/packed-refs')}: damaged\n`);
  appendFileSync(join(made.root, '.git/config'), '[bad\n');
  const { code, err } = await made.say(['list']);
  expect(code).toBe(3);
  expect(err).toMatch(/^git does not work in .*: bad config line \d+ in file \.git\/config$/);
});
