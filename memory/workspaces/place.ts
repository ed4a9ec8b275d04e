/** The note on a worktree, so that it can be brought back when its folder is gone. */
import { checkoutOf, gitFoldersOf } from '../git/checkout.js';
import { repositoryOf } from '../git/history.js';
import { realOf, type Workspace } from './workspace.js';

export interface WorkspacePlace {
  /** The id that all worktrees of the repository share. */
  readonly repository: string;
  /** The folder that they share. */
  readonly common: string;
  /** Null if none was checked out. */
  readonly branch: string | null;
  /** The commit; null before the first one, and if it was not found quickly. */
  readonly head: string | null;
}

/** @returns null if it is no worktree, or its folder is gone */
export function placeOf({ root, kind }: Workspace): WorkspacePlace | null {
  if (kind !== 'git') return null;
  const [repository, checkout] = [repositoryOf(root), checkoutOf(root)];
  if (repository === null || checkout === null) return null;
  return { repository, common: realOf(gitFoldersOf(root).common), branch: checkout.branch, head: checkout.head };
}

/** @returns whether a worktree is known to belong there, on the same branch */
export function isSamePlace(known: WorkspacePlace | null, now: WorkspacePlace): boolean {
  return known?.repository === now.repository && known.common === now.common && known.branch === now.branch;
}
