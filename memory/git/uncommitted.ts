/** The uncommitted changes of a worktree, one entry for each. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Checkout, gitFoldersOf } from './checkout.js';
import { hiddenIn } from './hidden.js';
import { isOtherWorktree } from './otherWorktrees.js';
import type { Print, Repository } from './repository.js';

const DIGEST_LENGTH = 16;
/** How a line of `git status` begins. */
const UNTRACKED = '??';
/** How an entry of ours begins: a change that `git status` does not show. */
const HIDDEN = 'h ';
/** Otherwise git starts itself in each submodule, with its configuration. Another commit there is a change of this repository. */
const OF_SUBMODULES = '--ignore-submodules=dirty';

/** @returns lines of `git status`, and such of ours for hidden changes; null if it has no files, or git failed */
export function changesIn(repository: Repository, root: string, print: Print): string[] | null {
  const { isBare, ask } = repository;
  const what = ['--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', OF_SUBMODULES];
  const status = isBare ? null : ask(['status', ...what]);
  if (status === null) return null;
  // An index may be too long to be listed: without the changes that are shown, there would be no answer at all.
  const hidden = hiddenIn(repository, { ...gitFoldersOf(root), root }) ?? [];
  const entries = status.split('\0').filter((entry) => entry !== '');
  const own = print === 'plain' ? entries.filter((entry) => !isOwnWorktree(entry, root)) : entries;
  return [...own, ...hidden.map((path) => `${HIDDEN} ${Buffer.from(path, 'latin1').toString()}`)];
}

/** Work in another worktree is a change there. No other command looks after a repository of its own, such as a clone. */
function isOwnWorktree(entry: string, root: string): boolean {
  const path = pathOf(entry);
  // Git shows a repository as a folder, although it is asked for files.
  return entry.startsWith(UNTRACKED) && path.endsWith('/') && isOtherWorktree(join(root, path), root);
}

/** A file may have a staged change and a hidden one. */
export function filesOf(changes: readonly string[]): string[] {
  return [...new Set(changes.map(pathOf))];
}

function pathOf(entry: string): string {
  return entry.slice('XY '.length);
}

/** Whether `git diff` prints it. */
export function isPrinted(entry: string): boolean {
  return !entry.startsWith(UNTRACKED) && !entry.startsWith(HIDDEN);
}

interface Diff {
  /** Null if git cannot compare the files with a commit: there is none yet, it lacks a file, or the changes are too long. */
  readonly text: string | null;
}

/** @returns null if git takes too long */
export function diffOf({ askEnd }: Repository, changes: readonly string[], print: Print): Diff | null {
  if (changes.length === 0) return { text: '' };
  const { code, is_cut, out } = askEnd(['diff', OF_SUBMODULES, 'HEAD'], print);
  return code === null && !is_cut ? null : { text: code === 0 ? out : null };
}

export function digestOf(changes: readonly string[], diff: Diff, { head }: Checkout): string | null {
  if (changes.length === 0 || (diff.text === null && head !== null)) return null;
  const text = `${changes.map((entry) => `${entry}\0`).join('')}\n${diff.text ?? ''}`;
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
}
