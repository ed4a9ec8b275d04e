/** The branch and commit of a worktree, read from the files of git: the start of an agent does not wait for a process. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readPlainFileSync } from '../../src/files/plainFile.js';

export interface Checkout {
  /** The commit; null before the first one, and if it is not found quickly. */
  readonly head: string | null;
  /** Null if none is checked out. */
  readonly branch: string | null;
}

/** The limit for a file of git. Packed branches that take more are left out. */
const LARGEST_BYTES = 1024 * 1024;
const LINK = 'gitdir: ';
const REF = 'ref: ';
const BRANCH = 'refs/heads/';
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** In the place of a branch, if the branches are in a table that only git reads. */
const IN_A_TABLE = 'refs/heads/.invalid';

/** Characters of a commit for people: enough to name one of a repository. */
const DIGEST_LENGTH = 10;

/** @returns a commit as people are shown it */
export function shortCommit(commit: string): string {
  return commit.slice(0, DIGEST_LENGTH);
}

/** @returns whether a word is the whole name of a commit */
export function isCommit(word: string): boolean {
  return COMMIT.test(word);
}

/** Where git keeps a worktree. */
export interface GitFolders {
  /** The worktree's own: `HEAD`, the index. */
  readonly folder: string;
  /** Shared by all worktrees of the repository: objects, branches, the configuration. The same folder for a main worktree. */
  readonly common: string;
}

/**
 * @param root the top level of a worktree
 * @returns null if it is none, or cannot be read
 */
export function checkoutOf(root: string): Checkout | null {
  return checkoutIn(gitFoldersOf(root));
}

/** As {@link checkoutOf}, for a worktree whose own files may be gone. */
export function checkoutIn(folders: GitFolders): Checkout | null {
  const { folder } = folders;
  const head = textOf(join(folder, 'HEAD'));
  if (head === null) return null;
  if (!head.startsWith(REF)) return isCommit(head) ? { head, branch: null } : null;
  const ref = head.slice(REF.length);
  if (ref === IN_A_TABLE) return null;
  return { head: commitOf(folders, ref), branch: ref.startsWith(BRANCH) ? ref.slice(BRANCH.length) : ref };
}

/**
 * @param root the top level of a worktree; of a linked one, `.git` is a file with the path of its folder
 * @returns where its folders would be, also if there are none
 */
export function gitFoldersOf(root: string): GitFolders {
  const path = join(root, '.git');
  const link = statSync(path, { throwIfNoEntry: false })?.isFile() ? textOf(path) : null;
  const folder = link?.startsWith(LINK) ? resolve(root, link.slice(LINK.length)) : path;
  return { folder, common: resolve(folder, textOf(join(folder, 'commondir')) ?? '.') };
}

function commitOf({ common }: GitFolders, ref: string): string | null {
  const loose = textOf(join(common, ref));
  if (loose !== null) return isCommit(loose) ? loose : null;
  const packed = textOf(join(common, 'packed-refs'))?.split('\n') ?? [];
  const line = packed.find((each) => each.endsWith(` ${ref}`));
  const commit = line?.slice(0, line.indexOf(' '));
  return commit !== undefined && isCommit(commit) ? commit : null;
}

/** @returns null if there is no such file, or something else in its place */
function textOf(path: string): string | null {
  try {
    return readPlainFileSync(path, LARGEST_BYTES).trimEnd();
  } catch {
    return null;
  }
}
