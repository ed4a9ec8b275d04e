/** Leftovers: registrations without a folder, folders without a registration, and folders that have lost their `.git`. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gitFoldersOf } from '../git/checkout.js';
import { realOf } from '../workspaces/workspace.js';
import { TYPES, typeFolderOf } from './naming.js';
import { type Registered, type RepositoryPlace, repositoryAt } from './place.js';
import { doomedFolders } from './records.js';

/** Where Claude Code makes worktrees, in the directory that it works in. */
const OF_CLAUDE = '.claude/worktrees';
const MOST_FOLDERS = 1_000;

export interface Ghost {
  /**
   * - `folder_gone`: git has registered it, and there is no such folder: it was deleted or moved, or is on a disk that is not there
   * - `replaced`: git has registered it, and another repository's files are there
   * - `unreadable`: git has a folder for it that does not say where it is
   * - `unregistered`: a folder that was a worktree, and git does not know it any more
   * - `moved`: a folder that was a worktree, and git looks for it elsewhere, where nothing is
   * - `lost_git`: a folder among worktrees without `.git`
   */
  readonly kind: 'folder_gone' | 'replaced' | 'unreadable' | 'unregistered' | 'moved' | 'lost_git';
  /** The top level of the repository that git takes for the folder's; null if there is none. */
  readonly answers_for: string | null;
}

/** @returns what is wrong with a registered worktree; null if nothing is */
export function ghostOf({ root, folder }: Registered): Ghost | null {
  if (root === null) return { kind: 'unreadable', answers_for: null };
  if (!existsSync(root)) return { kind: 'folder_gone', answers_for: null };
  if (!existsSync(join(root, '.git'))) return lostGit(root);
  return realOf(gitFoldersOf(root).folder) === realOf(folder) ? null : { kind: 'replaced', answers_for: root };
}

/**
 * @param registered the linked worktrees of the repository
 * @param isContainer whether it has no checkout of its own
 * @returns by path, folders that look like worktrees and are none. They are looked for next to others, and where we and Claude Code make them
 */
export function leftovers(
  place: RepositoryPlace,
  registered: readonly Registered[],
  isContainer: boolean,
): Map<string, Ghost> {
  const { common, home } = place;
  const roots = registered.flatMap(({ root }) => root ?? []);
  // The rest of a removal is no worktree.
  const known = new Set([...[home, common, ...roots].map((root) => realOf(root)), ...doomedFolders(common)]);
  const own = [
    `${home}.worktrees`,
    ...[home, common, ...roots].map((root) => join(root, OF_CLAUDE)),
    // Elsewhere, a folder such as `docs` has the files of the repository.
    ...(isContainer ? TYPES.map((type) => typeFolderOf(place, type)) : []),
  ].map((folder) => realOf(folder));
  const found = new Map<string, Ghost>();
  const isOurs = (folder: string) => own.includes(folder);
  for (const parent of new Set([...own, ...roots.map((root) => realOf(dirname(root)))])) {
    for (const path of foldersIn(parent)) {
      if (known.has(path) || isOurs(path)) continue;
      if (existsSync(join(path, '.git'))) {
        const own = realOf(gitFoldersOf(path).folder);
        if (dirname(own) !== join(common, 'worktrees')) continue;
        const noted = registered.find(({ folder }) => realOf(folder) === own);
        const isMoved = noted !== undefined && noted.root !== null && !existsSync(noted.root);
        found.set(path, { kind: isMoved ? 'moved' : 'unregistered', answers_for: null });
      } else if (isOurs(parent) && !isAbove(path, known)) found.set(path, lostGit(path));
    }
  }
  return found;
}

function lostGit(path: string): Ghost {
  return { kind: 'lost_git', answers_for: repositoryAt(path)?.root ?? null };
}

/** A worktree `feature/a/b` is below the folder `feature/a`. */
function isAbove(path: string, roots: ReadonlySet<string>): boolean {
  return [...roots].some((root) => root.startsWith(`${path}/`));
}

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return entries.slice(0, MOST_FOLDERS).map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}
