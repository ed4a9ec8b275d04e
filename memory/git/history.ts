/** Which repository a directory belongs to, and what became of a branch since a commit. */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { SECOND } from '../../src/time.js';
import { commitNamed, isAncestor } from './ancestry.js';
import { checkoutOf, gitFoldersOf, isCommit, shortCommit } from './checkout.js';
import type { GitVariables } from './gitLine.js';
import { withRepository } from './repository.js';

const DIGEST_LENGTH = 16;
const MOST_MADE = 1_000;
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

export interface MadeCommit {
  readonly commit: string;
  readonly short: string;
  readonly subject: string;
  /** When it was committed, UTC epoch milliseconds. Git knows whole seconds. */
  readonly at: number;
}

/**
 * @param root the top level of a worktree
 * @param since the commit and the branch of an earlier time; null if there was none
 * @param after UTC epoch milliseconds
 * @returns the commits that were made afterwards, and were not in that commit, on what is checked out and on that branch, the oldest
 *   first; null if git cannot be asked
 */
export function commitsMade(
  root: string,
  { PATH, HOME }: GitVariables,
  { head, branch }: { readonly head: string | null; readonly branch: string | null },
  after: number,
): MadeCommit[] | null {
  return withRepository(root, { PATH, HOME }, ASKING, (repository) => {
    const known = branch === null ? null : commitNamed(repository, `refs/heads/${branch}`);
    if (known === 'unanswered') return null;
    const tips = ['HEAD', ...(known === null ? [] : [known]), ...(head !== null && isCommit(head) ? [`^${head}`] : [])];
    const limits = [`--since=@${Math.floor(after / SECOND)}`, `--max-count=${MOST_MADE}`];
    const printed = repository.ask(['log', '--reverse', '--format=%H %ct %s', ...limits, ...tips]);
    return printed === null ? null : printed.split('\n').filter(Boolean).map(madeCommit);
  });
}

function madeCommit(line: string): MadeCommit {
  const [commit = '', seconds = '', ...words] = line.split(' ');
  return { commit, short: shortCommit(commit), subject: words.join(' '), at: Number(seconds) * SECOND };
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
  return withRepository(root, { PATH, HOME }, ASKING, (repository) => {
    const tip = commitNamed(repository, branch === null ? 'HEAD' : `refs/heads/${branch}`);
    if (tip === 'unanswered') return null;
    const end = tip ?? 'HEAD';
    const isThere = isAncestor(repository, head, end);
    if (isThere === null) return null;
    const count = (paths: readonly string[]) =>
      repository.ask(['rev-list', '--count', `${head}..${end}`, '--', ...paths]);
    const isCounted = tip !== null && isThere;
    const commits = isCounted ? count([]) : '0';
    const touching = isCounted && files.length > 0 ? count(files.map((path) => `:(literal)${path}`)) : '0';
    if (commits === null || touching === null) return null;
    return { isGone: tip === null, isRewritten: !isThere, commits: Number(commits), touching: Number(touching) };
  });
}
