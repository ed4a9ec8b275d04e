/** Which repository a directory belongs to, and what became of a branch since a commit. */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { SECOND } from '../../src/time.js';
import { checkoutOf, gitFoldersOf, isCommit, shortCommit } from './checkout.js';
import type { GitVariables } from './gitLine.js';
import { withRepository } from './repository.js';

const DIGEST_LENGTH = 16;
const ASKING = { about: 'commits', preparingMs: 5 * SECOND, askingMs: 10 * SECOND } as const;

/** @returns the id that all worktrees of a repository share; null if the directory is the top of none */
export function repositoryOf(root: string): string | null {
  const { folder, common } = gitFoldersOf(root);
  return existsSync(folder) && existsSync(common) ? repositoryId(common) : null;
}

/** @returns the id of the repository whose worktrees share a folder: `repo_` and 16 hexadecimal digits */
export function repositoryId(common: string): string {
  return `repo_${createHash('sha256').update(realpathSync.native(common)).digest('hex').slice(0, DIGEST_LENGTH)}`;
}

/**
 * @param root the top level of a worktree
 * @param head a commit
 * @param most how many commits are named
 * @returns the commits that are checked out there and were not in `head`, the newest first, and how many there are; null if git cannot
 *   be asked, or the commit is gone
 */
export function commitsSince(
  root: string,
  { PATH, HOME }: GitVariables,
  head: string,
  most: number,
): { readonly commits: readonly string[]; readonly count: number } | null {
  if (!isCommit(head)) return null;
  return withRepository(root, { PATH, HOME }, ASKING, ({ ask }) => {
    const range = `${head}..HEAD`;
    const count = ask(['rev-list', '--count', range]);
    const named = ask(['rev-list', `--max-count=${most}`, range]);
    if (count === null || named === null) return null;
    return { commits: named.split('\n').filter(Boolean).map(shortCommit), count: Number(count) };
  });
}

export interface History {
  /** The branch is gone. */
  readonly isGone: boolean;
  /** The commit is no longer on the branch, or exists no more. If the branch is gone: on what is checked out. */
  readonly isRewritten: boolean;
  /** Commits on the branch since. */
  readonly commits: number;
  /** Those of them that touch the files. */
  readonly touching: number;
}

/**
 * @param root the top level of a worktree
 * @param since the commit, and its branch; null if none was checked out
 * @param files relative to the top level
 * @returns null if git cannot be asked
 */
export function historySince(
  root: string,
  { PATH, HOME }: GitVariables,
  { head, branch }: { readonly head: string; readonly branch: string | null },
  files: readonly string[],
): History | null {
  // They come from a log, and a word that begins with a dash would be an option.
  if (!isCommit(head)) return null;
  // Mostly nothing was committed, and two files of git say so.
  const shown = checkoutOf(root);
  if (shown?.head === head && shown.branch === branch)
    return { isGone: false, isRewritten: false, commits: 0, touching: 0 };
  return withRepository(root, { PATH, HOME }, ASKING, ({ ask }) => {
    const ref = branch === null ? 'HEAD' : `refs/heads/${branch}`;
    const tip = ask(['rev-parse', '--verify', '-q', `${ref}^{commit}`])?.trim() || null;
    const end = tip ?? 'HEAD';
    const isRewritten = ask(['merge-base', '--is-ancestor', head, end]) === null;
    const count = (paths: readonly string[]) =>
      Number(ask(['rev-list', '--count', `${head}..${end}`, '--', ...paths]) ?? 0);
    const isCounted = tip !== null && !isRewritten;
    return {
      isGone: tip === null,
      isRewritten,
      commits: isCounted ? count([]) : 0,
      touching: isCounted && files.length > 0 ? count(files.map((path) => `:(literal)${path}`)) : 0,
    };
  });
}
