/** The branch of a remote that belongs to a local one. */
import { MINUTE } from '../../src/time.js';
import { deedLine, type GitVariables, runGit } from '../git/gitLine.js';
import type { Repository } from '../git/repository.js';
import type { RemoteBranch } from './removal.js';

const LOCAL = 'refs/heads/';
const REMOTE = 'refs/remotes/';
const USUAL_REMOTE = 'origin';

/**
 * The configuration of the repository says it, which agents cannot write.
 * @param tip of the local branch
 * @returns the remote branch that can go; or why none goes, such as that others have added to it
 */
export function remoteBranch(
  { ask, common }: Pick<Repository, 'ask' | 'common'>,
  branch: string,
  tip: string,
  variables: GitVariables,
): RemoteBranch | string {
  const setting = (key: string) => {
    const words = ['config', '--get', `branch.${branch}.${key}`];
    return runGit(deedLine(common, words, variables), { limitMs: MINUTE }).out.trim();
  };
  const [remote, merge] = [setting('remote'), setting('merge')];
  const theirs = merge.startsWith(LOCAL) ? merge.slice(LOCAL.length) : branch;
  const name = remote === '' || remote === '.' ? USUAL_REMOTE : remote;
  const commit = ask(['rev-parse', '--verify', '-q', `${REMOTE}${name}/${theirs}`])?.trim();
  if (!commit) return `no branch ${theirs} of ${name} is known here, so none was removed there`;
  if (ask(['merge-base', '--is-ancestor', commit, tip]) !== null) return { name, branch: theirs, commit };
  return `the branch ${theirs} of ${name} stays: it has commits that ${branch} has not`;
}
