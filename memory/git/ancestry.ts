/** Questions about commits to which "there is none" is an answer, unlike a git that fails or takes too long. */
import type { Repository } from './repository.js';

/** How git exits for no. */
const NO = 1;

/** @returns the commit of a name; null if there is none, and `unanswered` if git does not say */
export function commitNamed({ askEnd }: Pick<Repository, 'askEnd'>, name: string): string | 'unanswered' | null {
  const { code, out } = askEnd(['rev-parse', '--verify', '-q', `${name}^{commit}`]);
  if (code === 0) return out.trim();
  return code === NO ? null : 'unanswered';
}

/** @returns whether a commit is in the history of another: false also if one of them is not there; null if git does not say */
export function isAncestor(repository: Pick<Repository, 'askEnd'>, commit: string, of: string): boolean | null {
  const { code } = repository.askEnd(['merge-base', '--is-ancestor', commit, of]);
  if (code === 0) return true;
  if (code === NO) return false;
  // Git exits the same way for a commit that is not there as for a failure.
  return [commit, of].some((name) => commitNamed(repository, name) === null) ? false : null;
}
