import { UnreachableError } from '../../src/errors.js';

/** @param place a worktree about which git was asked */
export function unanswered({ root }: { readonly root: string }): UnreachableError {
  return new UnreachableError(`git does not answer for ${root}: is it installed, and are the files yours?`);
}
