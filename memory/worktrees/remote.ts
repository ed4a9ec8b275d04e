/** The branch of a remote that belongs to a local one. */
import { MINUTE } from '../../src/time.js';
import { commitNamed, isAncestor } from '../git/ancestry.js';
import { deedLine, type GitVariables, runGit } from '../git/gitLine.js';
import type { Repository } from '../git/repository.js';
import type { RemoteBranch } from './removal.js';

const LOCAL = 'refs/heads/';
const REMOTE = 'refs/remotes/';
const USUAL_REMOTE = 'origin';
/** How `git config --get` exits if there is no such setting. */
const UNSET = 1;

/**
 * The configuration of the repository says it, which agents cannot write.
 * @param tip of the local branch
 * @returns the remote branch that can go; or why none goes, such as that others have added to it
 */
export function remoteBranch(
  repository: Pick<Repository, 'askEnd' | 'common'>,
  branch: string,
  tip: string,
  variables: GitVariables,
): RemoteBranch | string {
  const setting = (key: string) => {
    const words = ['config', '--get', `branch.${branch}.${key}`];
    const { code, out } = runGit(deedLine(repository.common, words, variables), { limitMs: MINUTE });
    return code === 0 || code === UNSET ? out.trim() : null;
  };
  const [remote, merge] = [setting('remote'), setting('merge')];
  if (remote === null || merge === null)
    return `git does not say which branch of a remote belongs to ${branch}; no remote branch was removed`;
  const theirs = merge.startsWith(LOCAL) ? merge.slice(LOCAL.length) : branch;
  const name = remote === '' || remote === '.' ? USUAL_REMOTE : remote;
  const commit = commitNamed(repository, `${REMOTE}${name}/${theirs}`);
  if (commit === null) return `no branch ${theirs} of ${name} is known here, so none was removed there`;
  const isOurs = commit === 'unanswered' ? null : isAncestor(repository, commit, tip);
  if (commit !== 'unanswered' && isOurs) return { name, branch: theirs, commit };
  const why = isOurs === null ? 'git does not say what it has' : `it has commits that ${branch} has not`;
  return `the branch ${theirs} of ${name} stays: ${why}`;
}
