/** The branch that a worktree is merged into, and the worktree whose files follow that branch. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commitNamed } from '../git/ancestry.js';
import type { Repository } from '../git/repository.js';
import type { Base } from './base.js';
import { stateOf } from './dirt.js';
import { entryAt } from './entry.js';
import type { Operation } from './operation.js';
import { placeOnBranch } from './place.js';
import { isBranchName } from './records.js';
import type { Into } from './squash.js';
import type { Worktree } from './worktree.js';

const LOCAL = 'refs/heads/';

/** A target, and the name of its commit: `main`, or `origin/main` if that is ahead. */
export interface Target extends Into {
  readonly name: string;
  /** How many commits the local branch lacks; null if it is taken itself, or is not there. */
  readonly behind: number | null;
}

/** Where the target is checked out. */
export interface TargetWorktree {
  readonly root: string;
  readonly folder: string;
  /** Tracked files with changes; null if git cannot say. */
  readonly changed: readonly string[] | null;
  readonly operation: Operation | null;
}

/**
 * @param into a local branch, or the default branch
 * @returns null if there is no such branch; `unanswered` if git does not say its commit, or whether a worktree follows it
 */
export function targetOf(
  repository: Repository,
  worktrees: readonly Worktree[],
  into: string | Base,
): Target | 'unanswered' | null {
  const [branch, base] = typeof into === 'string' ? [into, null] : [into.branch, into];
  const local = base?.name === branch ? base.commit : localCommit(repository, branch);
  if (local === 'unanswered') return local;
  const commit = base?.commit ?? local;
  if (commit === null) return null;
  const root = worktreeOn(worktrees, branch)?.path ?? null;
  if (root === null && placeOnBranch(repository, branch) === 'unanswered') return 'unanswered';
  return { branch, local, commit, root, name: base?.name ?? branch, behind: base?.behind ?? null };
}

function localCommit(repository: Repository, branch: string): string | 'unanswered' | null {
  return isBranchName(branch) ? commitNamed(repository, LOCAL + branch) : null;
}

/** @returns the worktree whose files follow a branch; null if none does, or its folder is gone */
function worktreeOn(worktrees: readonly Worktree[], branch: string): Worktree | null {
  return worktrees.find((each) => each.branch === branch && each.ghost === null) ?? null;
}

/** @returns null if it is checked out nowhere */
export function targetWorktree(
  repository: Repository,
  worktrees: readonly Worktree[],
  { branch }: Into,
): TargetWorktree | null {
  const found = worktreeOn(worktrees, branch);
  if (found === null || found.folder === null) return null;
  const { path: root, folder, operation } = found;
  const roots = new Set(worktrees.map(({ path }) => path));
  const changed = stateOf(repository, { root, folder }, roots)?.dirt.tracked ?? null;
  return { root, folder, changed, operation };
}

/**
 * @param from the commit that is checked out there
 * @param tree to which it would change
 * @returns files, also ignored ones, that git does not track there and that would be written over, relative to its top level; null if git
 *   does not say which files come or are tracked
 */
export function inTheWay(
  repository: Repository,
  { root, folder }: TargetWorktree,
  from: string,
  tree: string,
): string[] | null {
  const diff = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--diff-filter=A', from, tree];
  const { code, out } = repository.attempt(diff);
  if (code !== 0) return null;
  const added = out.split('\0').filter((path) => path !== '');
  const there = added.filter((path) => isThere(root, path));
  // Mostly nothing is there, and then it does not matter what is tracked.
  if (there.length === 0) return [];
  const listed = repository.askIn({ root, folder }, ['ls-files', '-z']);
  if (listed === null) return null;
  const tracked = new Set(listed.split('\0'));
  return [...new Set(there.flatMap((path) => obstacle(root, path, tracked) ?? []))];
}

/** Whether something is in the place of a path, or something other than a folder in that of a folder above it. */
function isThere(root: string, path: string): boolean {
  return partsOf(path).some((part) => {
    const stat = entryAt(join(root, part));
    return stat !== null && (part === path || !stat.isDirectory());
  });
}

/** @returns a path, and the folders above it */
function partsOf(path: string): string[] {
  const parts = [path];
  for (let above = dirname(path); above !== '.'; above = dirname(above)) parts.push(above);
  return parts;
}

/** @returns the file in the place of a path, or of a folder above it */
function obstacle(root: string, path: string, tracked: ReadonlySet<string>): string | null {
  return (
    partsOf(path).find((part) => {
      const stat = entryAt(join(root, part));
      if (stat === null || tracked.has(part)) return false;
      return stat.isDirectory() ? part === path && hasFiles(join(root, part), part, tracked) : true;
    }) ?? null
  );
}

/** A folder of tracked files makes room when those go. */
function hasFiles(folder: string, path: string, tracked: ReadonlySet<string>): boolean {
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    const below = `${path}/${entry.name}`;
    return entry.isDirectory() ? hasFiles(join(folder, entry.name), below, tracked) : !tracked.has(below);
  });
}
