/** Worktrees of a repository that are inside another one of it: their files are no changes of that one. */
import { dirname, relative, resolve, sep } from 'node:path';
import { gitFoldersOf } from './checkout.js';

/** Where Claude Code makes worktrees. One that is gone was one all the same. */
const OF_CLAUDE = `.claude${sep}worktrees${sep}`;

/**
 * @param folder below the top level of a worktree
 * @returns whether it is the top level of another worktree of the repository. Another repository, such as a clone, is none
 */
export function isOtherWorktree(folder: string, root: string): boolean {
  return gitFoldersOf(folder).common === gitFoldersOf(root).common;
}

/**
 * @param root the top level of a worktree, or a plain folder, which has none
 * @returns whether a path, absolute or relative to the top level, is in another worktree below it
 */
export function otherWorktreesIn(root: string): (path: string) => boolean {
  const known = new Map<string, boolean>();
  const isInOne = (folder: string): boolean => {
    if (folder === root) return false;
    const found = known.get(folder) ?? (isOtherWorktree(folder, root) || isInOne(dirname(folder)));
    known.set(folder, found);
    return found;
  };
  return (path) => {
    const absolute = resolve(root, path);
    const inside = relative(root, absolute);
    if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`)) return false;
    return inside.startsWith(OF_CLAUDE) || isInOne(dirname(absolute));
  };
}
