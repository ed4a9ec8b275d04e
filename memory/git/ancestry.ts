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

/** @returns whether a commit is in the history of another, which a commit that is gone is not; null if git does not say */
export function isAncestor(repository: Pick<Repository, 'askEnd'>, commit: string, of: string): boolean | null {
  const { code } = repository.askEnd(['merge-base', '--is-ancestor', commit, of]);
  if (code === 0) return true;
  // Of a commit that is gone, git says so as it says that it failed.
  return code === NO || commitNamed(repository, commit) === null ? false : null;
}
