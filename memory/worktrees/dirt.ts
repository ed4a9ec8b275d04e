/** Commit, branch and uncommitted changes of a worktree, from one question to git. */

import { join } from 'node:path';
import type { Repository, WorktreePlace } from '../git/repository.js';
import { realOf } from '../workspaces/workspace.js';

/** Otherwise git starts itself in each submodule, with its configuration. */
const STATUS = [
  'status',
  '--porcelain=v2',
  '--branch',
  '-z',
  '--untracked-files=all',
  '--no-renames',
  '--ignore-submodules=dirty',
];
const HEAD = '# branch.oid ';
const BRANCH = '# branch.head ';
/** In the place of a commit, and of a branch. */
const INITIAL = '(initial)';
const DETACHED = '(detached)';
const UNTRACKED = '? ';
/** For git, only a file of `git add -N` comes with the worktree and not with the index. */
const INTENDED = /^1 .A /;
/** How many words an entry has before its path. */
const WORDS: Readonly<Record<string, number>> = { '1': 8, u: 10 };

export interface Dirt {
  /** Relative to the top level. */
  readonly tracked: readonly string[];
  readonly untracked: readonly string[];
}

export interface WorktreeState {
  /** Null before the first commit. */
  readonly head: string | null;
  /** Null if none is checked out. */
  readonly branch: string | null;
  readonly dirt: Dirt;
  /** The tracked files among them that `git add -N` has marked; nothing of them is staged yet. */
  readonly intended: readonly string[];
}

/**
 * @param roots the real paths of all worktrees of the repository: what is in another one is no change of this one
 * @param encoding of the paths: `latin1` keeps every byte of a name apart
 * @returns null if git cannot say, or the files belong to another user
 */
export function stateOf(
  { askIn }: Repository,
  place: WorktreePlace,
  roots: ReadonlySet<string>,
  encoding: 'utf8' | 'latin1' = 'utf8',
): WorktreeState | null {
  const entries = askIn(place, STATUS, encoding)?.split('\0');
  if (entries === undefined) return null;
  const tracked: string[] = [];
  const intended: string[] = [];
  const untracked: string[] = [];
  let head: string | null = null;
  let branch: string | null = null;
  for (const entry of entries) {
    if (entry.startsWith(HEAD)) head = orNull(entry.slice(HEAD.length), INITIAL);
    else if (entry.startsWith(BRANCH)) branch = orNull(entry.slice(BRANCH.length), DETACHED);
    else if (entry.startsWith(UNTRACKED)) {
      const path = entry.slice(UNTRACKED.length);
      // Git shows a repository in another one as a folder.
      const name = Buffer.from(path, encoding).toString();
      if (!path.endsWith('/') || !roots.has(realOf(join(place.root, name)))) untracked.push(path);
    } else if (WORDS[entry[0] ?? ''] !== undefined) {
      tracked.push(pathOf(entry));
      if (INTENDED.test(entry)) intended.push(pathOf(entry));
    }
  }
  return { head, branch, dirt: { tracked, untracked }, intended };
}

function pathOf(entry: string): string {
  return entry
    .split(' ')
    .slice(WORDS[entry[0] ?? ''])
    .join(' ');
}

function orNull(word: string, none: string): string | null {
  return word === none ? null : word;
}
