/** What is checked out in a worktree, read from the files of git: the start of an agent does not wait for a process. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readPlainFileSync } from '../../src/files/plainFile.js';

export interface Checkout {
  /** The commit; null before the first one, and if it is not found quickly. */
  readonly head: string | null;
  /** Null if none is checked out. */
  readonly branch: string | null;
}

/** Of a file of git. Packed branches that take more are left out. */
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

/**
 * @param root the top level of a worktree
 * @returns null if it is none, or cannot be read
 */
export function checkoutOf(root: string): Checkout | null {
  const folder = gitFolder(root);
  const head = textOf(join(folder, 'HEAD'));
  if (head === null) return null;
  if (!head.startsWith(REF)) return COMMIT.test(head) ? { head, branch: null } : null;
  const ref = head.slice(REF.length);
  if (ref === IN_A_TABLE) return null;
  return { head: commitOf(folder, ref), branch: ref.startsWith(BRANCH) ? ref.slice(BRANCH.length) : ref };
}

/** A linked worktree has a file there, with the path of its folder. */
function gitFolder(root: string): string {
  const path = join(root, '.git');
  const link = statSync(path, { throwIfNoEntry: false })?.isFile() ? textOf(path) : null;
  return link?.startsWith(LINK) ? resolve(root, link.slice(LINK.length)) : path;
}

function commitOf(folder: string, ref: string): string | null {
  const common = resolve(folder, textOf(join(folder, 'commondir')) ?? '.');
  const loose = textOf(join(common, ref));
  if (loose !== null) return COMMIT.test(loose) ? loose : null;
  const packed = textOf(join(common, 'packed-refs'))?.split('\n') ?? [];
  const line = packed.find((each) => each.endsWith(` ${ref}`));
  const commit = line?.slice(0, line.indexOf(' '));
  return commit !== undefined && COMMIT.test(commit) ? commit : null;
}

/** @returns null if there is no such file, or something else in its place */
function textOf(path: string): string | null {
  try {
    return readPlainFileSync(path, LARGEST_BYTES).trimEnd();
  } catch {
    return null;
  }
}
