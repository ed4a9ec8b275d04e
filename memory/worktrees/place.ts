/** Where a repository is, and which worktrees git has registered for it. Read from the files of git. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readPlainFileSync } from '../../src/files/plainFile.js';
import { gitFoldersOf } from '../git/checkout.js';
import { repositoryId } from '../git/history.js';
import { realOf } from '../workspaces/workspace.js';
import { branchIn, type Table } from './table.js';

const LARGEST_BYTES = 64 * 1024;
/** A folder that holds a bare repository under this name, and worktrees next to it. */
const BARE = '.bare';

export interface RepositoryPlace {
  /** `repo_` and 16 hexadecimal digits. */
  readonly id: string;
  /** The folder that all worktrees share, without links. */
  readonly common: string;
  /** The top level of the worktree that was asked about, or the container: git can be asked there. */
  readonly root: string;
  /** Where the repository's own checkout would be, or the folder of a container. */
  readonly home: string;
}

/**
 * @param directory any directory in a worktree, or in a container
 * @returns null if there is no repository
 */
export function repositoryAt(directory: string): RepositoryPlace | null {
  for (let folder = realOf(directory); ; folder = dirname(folder)) {
    const found = existsSync(join(folder, '.git')) ? placeOf(folder) : containerPlace(folder);
    if (found !== null || folder === dirname(folder)) return found;
  }
}

function placeOf(root: string): RepositoryPlace | null {
  const folders = gitFoldersOf(root);
  const common = realOf(folders.common);
  if (!existsSync(join(common, 'HEAD'))) return null;
  const home = realOf(folders.folder) === common ? root : homeOf(common);
  return { id: repositoryId(common), common, root, home };
}

/** Git itself does not see it from the folder above, so it is asked in a worktree. */
function containerPlace(folder: string): RepositoryPlace | null {
  const common = join(folder, BARE);
  if (!existsSync(join(common, 'HEAD'))) return null;
  const root = registeredIn(common).find(({ root }) => root !== null && existsSync(join(root, '.git')))?.root;
  return root == null ? null : { id: repositoryId(common), common, root, home: folder };
}

/**
 * @param common the folder that the worktrees of a repository share
 * @returns where its checkout would be, or its container. From a linked worktree, the checkout of a submodule is not found: only its
 *   configuration says where that is
 */
export function homeOf(common: string): string {
  return ['.git', BARE].includes(basename(common)) ? dirname(common) : common;
}

/** @returns whether the repository's own checkout is there */
export function hasCheckout({ common, home }: Pick<RepositoryPlace, 'common' | 'home'>): boolean {
  return home !== common && realOf(gitFoldersOf(home).folder) === common;
}

/** @returns a directory in which git can be asked whatever linked worktree is removed */
export function stayingFolder(place: Pick<RepositoryPlace, 'common' | 'home'>): string {
  return hasCheckout(place) ? place.home : place.common;
}

/** A linked worktree, as git has noted it. */
export interface Registered {
  /** Git's folder for it. */
  readonly folder: string;
  /** Its top level, which may be gone. Null if the note cannot be read. */
  readonly root: string | null;
  /** Null if it is not locked; empty if no reason is given. */
  readonly lock: string | null;
  /** UTC epoch milliseconds. */
  readonly created_at: number | null;
}

/** @returns the linked worktrees of a repository */
export function registeredIn(common: string): Registered[] {
  const folders = join(common, 'worktrees');
  const names = existsSync(folders) ? readdirSync(folders) : [];
  return names.map((name) => registeredAt(join(folders, name)));
}

function registeredAt(folder: string): Registered {
  const link = textOf(join(folder, 'gitdir'));
  return {
    folder,
    root: link === null || link === '' ? null : dirname(resolve(folder, link)),
    lock: textOf(join(folder, 'locked')),
    // Git writes it once, when it makes the worktree.
    created_at: statSync(join(folder, 'commondir'), { throwIfNoEntry: false })?.mtimeMs ?? null,
  };
}

/**
 * @param except top levels of worktrees that do not count
 * @returns the worktree that has a branch checked out, or git's folder for it; null if none has, and `unanswered` if git does not say it
 *   of each
 */
export function placeOnBranch(
  repository: Table,
  branch: string,
  except: (root: string | null) => boolean = () => false,
): string | 'unanswered' | null {
  const { common } = repository;
  const all = [{ folder: common, root: homeOf(common) }, ...registeredIn(common)].filter(({ root }) => !except(root));
  const branches = all.map(({ folder }) => branchIn(repository, folder));
  const found = all[branches.indexOf(branch)];
  if (found !== undefined) return found.root ?? found.folder;
  return branches.includes(undefined) ? 'unanswered' : null;
}

/** @returns the text of a file of git, without white space around it; null if there is none */
export function textOf(path: string): string | null {
  try {
    return readPlainFileSync(path, LARGEST_BYTES).trim();
  } catch {
    return null;
  }
}
