import { UnreachableError } from '../../src/errors.js';
import type { GitVariables } from '../git/gitLine.js';
import { refusalAt } from '../git/refusal.js';

/**
 * @param place a worktree about which git was asked
 * @param refusal git's words; null if they are not known, and then git is asked whether it works there at all
 */
export function unanswered(
  { root }: { readonly root: string },
  variables: GitVariables,
  refusal: string | null = null,
): UnreachableError {
  const why = refusal ?? refusalAt(root, variables);
  return new UnreachableError(
    why === null
      ? `git does not answer for ${root}: is it installed, and are the files yours?`
      : `git does not work in ${root}: ${why}`,
  );
}
