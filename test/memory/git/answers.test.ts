/** By a configuration of ours, git says the same as by that of the repository and its user. */
import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Git } from '../../../memory/git/git.js';
import { testFolder } from '../../harness/folder.js';
import { Ordinary } from './ordinary.js';
import type { PlainGit } from './plainGit.js';

const CASES = Object.keys(new Ordinary(testFolder()).scenes);

test.each(CASES)('%s', (name) => {
  const made = new Ordinary(testFolder());
  const place = made.scenes[name]?.(made);
  const where = typeof place === 'string' ? place : made.root;
  // First: git notes what it has seen, which changes what is asked for afterwards.
  const answers = ourAnswers(made.git, where);
  const expected = plainAnswers(made.git, where);
  expect(answers).toEqual(expected);
  if (name === 'a commit in the place of another') expect(expected.commits).toBe(1);
});

function ourAnswers({ variables }: PlainGit, where: string) {
  const git = new Git(where, variables);
  const said = git.state();
  const state = said === 'unanswered' ? null : said;
  const { undigested: _, ...rest } = state ?? { undigested: [] };
  return { state: state === null ? null : rest, files: git.files(), commits: git.commitsAfter(0) };
}

function plainAnswers(git: PlainGit, where: string) {
  const tried = (...args: string[]) => {
    const { code, out } = git.say(where, args);
    return code === 0 ? out : null;
  };
  const listed = (text: string | null) => text?.split('\0').filter((entry) => entry !== '') ?? null;
  const status = tried('status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames');
  const dirty = listed(status)?.map((entry) => entry.slice(3)) ?? [];
  const text = `${status}\n${tried('diff', 'HEAD') ?? ''}`;
  const count = tried('rev-list', '--count', 'HEAD');
  const state = {
    head: tried('rev-parse', '--verify', '-q', 'HEAD')?.trim() ?? null,
    branch: tried('symbolic-ref', '--short', '-q', 'HEAD')?.trim() ?? null,
    dirty_digest: dirty.length === 0 ? null : createHash('sha256').update(text).digest('hex').slice(0, 16),
    dirty,
  };
  const files = listed(tried('ls-files', '-z', '--cached', '--others', '--exclude-standard'));
  return {
    state: status === null ? null : state,
    files: files === null ? null : [...new Set(files)],
    commits: count === null ? null : Number(count),
  };
}
