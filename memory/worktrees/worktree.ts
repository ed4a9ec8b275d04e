/** The worktrees of a repository. Git is asked only if its refs are in no files. */
import { dirname, join } from 'node:path';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Repository } from '../git/repository.js';
import { realOf } from '../workspaces/workspace.js';
import { type Ghost, ghostOf, leftovers } from './ghosts.js';
import { lockOf, type WorktreeLock } from './lock.js';
import { type Operation, operationIn } from './operation.js';
import { hasCheckout, type Registered, type RepositoryPlace, registeredIn } from './place.js';
import { branchIn } from './table.js';

export interface Worktree {
  /** The top level, without links. */
  readonly path: string;
  /** Git's folder for it; null if git does not know it. */
  readonly folder: string | null;
  /** Null if none is checked out, or it is not known. In the middle of a rebase, the one that will be moved. */
  readonly branch: string | null;
  /** Whether it is the checkout from which others are made, which cannot be removed. */
  readonly is_main: boolean;
  readonly operation: Operation | null;
  readonly lock: WorktreeLock | null;
  /** UTC epoch milliseconds; null if it is not known. */
  readonly created_at: number | null;
  /** Null if nothing is wrong with it. */
  readonly ghost: Ghost | null;
}

/**
 * @param here the identity of a process of this host
 * @returns all of them, whichever program made them: the main one, then by path, then leftovers
 */
export function worktreesOf(place: RepositoryPlace, here: ProcessIdentity, repository: Repository): Worktree[] {
  const registered = registeredIn(place.common);
  const linked = registered.map((one) => linkedWorktree(one, repository, here));
  const main = !repository.isContainer && hasCheckout(place) ? [mainWorktree(place, repository)] : [];
  const left = [...leftovers(place, registered, repository.isContainer)].map(([path, ghost]) => ({
    ...NOTHING,
    path,
    ghost,
  }));
  return [...main, ...linked.sort(byPath), ...left.sort(byPath)];
}

const NOTHING = { folder: null, branch: null, is_main: false, operation: null, lock: null, created_at: null } as const;

function mainWorktree({ common, home }: RepositoryPlace, repository: Repository): Worktree {
  const operation = operationIn(repository, common);
  const branch = branchIn(repository, common) ?? operation?.branch ?? null;
  return { ...NOTHING, path: home, folder: common, branch, is_main: true, operation, ghost: null };
}

function linkedWorktree(one: Registered, repository: Repository, here: ProcessIdentity): Worktree {
  const { folder, root, lock, created_at } = one;
  const operation = operationIn(repository, folder);
  return {
    path: root === null ? folder : realOf(root),
    folder,
    branch: branchIn(repository, folder) ?? operation?.branch ?? null,
    is_main: false,
    operation,
    lock: lock === null ? null : lockOf(lock, here),
    created_at,
    ghost: ghostOf(one),
  };
}

function byPath({ path: one }: Worktree, { path: other }: Worktree): number {
  return one < other ? -1 : 1;
}

/** @returns what a worktree may be called, the more exact first */
function namesOf({ path, branch }: Worktree): string[][] {
  const parts = path.split('/');
  const folder = parts.at(-1) ?? '';
  return [
    [path],
    branch === null ? [] : [branch],
    [parts.slice(-2).join('/'), folder.replace('-', '/')],
    [folder],
    // `worktree-` begins the branches that Claude Code makes.
    branch === null ? [] : [branch.slice(branch.indexOf('/') + 1), branch.replace(/^worktree-/, '')],
    [folder.slice(folder.indexOf('-') + 1)],
  ];
}

/**
 * @param name `type/name`, a branch, a folder or the name alone
 * @param directory to which a folder may be relative
 * @returns those that may be meant: more than one if that is not clear
 */
export function worktreesNamed(worktrees: readonly Worktree[], name: string, directory: string): Worktree[] {
  const path = realOf(join(name.startsWith('/') ? '/' : directory, name));
  const ranks = worktrees.map((worktree) => ({ worktree, ranks: namesOf(worktree) }));
  for (const rank of ranks[0]?.ranks.keys() ?? []) {
    const word = rank === 0 ? path : name;
    const found = ranks.filter(({ ranks }) => ranks[rank]?.includes(word));
    if (found.length > 0) return found.map(({ worktree }) => worktree);
  }
  return [];
}

/** @returns the worktree that a directory is in, the innermost one; null if it is in none */
export function worktreeAround<One extends Pick<Worktree, 'path'>>(
  worktrees: readonly One[],
  directory: string,
): One | null {
  for (let folder = directory; ; folder = dirname(folder)) {
    const found = worktrees.find(({ path }) => path === folder);
    if (found !== undefined || folder === dirname(folder)) return found ?? null;
  }
}
