/** How a worktree whose folder was removed is brought back. */

import { existsSync } from 'node:fs';
import { shellLine } from '../../src/log/shellWords.js';
import { SECOND } from '../../src/time.js';
import { commitNamed } from '../git/ancestry.js';
import { isCommit } from '../git/checkout.js';
import type { GitVariables } from '../git/gitLine.js';
import { type Asking, type Repository, withRepository } from '../git/repository.js';
import { homeOf, placeOnBranch, registeredIn, repositoryAt, stayingFolder } from './place.js';
import { type Removal, removedWorktrees } from './records.js';
import { wayBack } from './wayBack.js';

const ASKING: Asking = { about: 'commits', preparingMs: 5 * SECOND, askingMs: 10 * SECOND };

export interface Removed {
  /** Its folder, which is gone. */
  readonly root: string;
  /** The folder that all worktrees of its repository share. */
  readonly common: string;
  /** Null if none was checked out, or it is not known. */
  readonly branch: string | null;
  /** The commit when it was last seen; null if it is not known. */
  readonly head: string | null;
}

/** `unanswered` if git does not say: the line for one of branch and commit would leave out what another one has. */
export type BringingBack = { readonly line: string } | 'unanswered';

/**
 * @returns the line for a shell that brings the folder back: as `worktree end` has kept it, or else from its branch or commit; null if none
 *   of these is found, or its repository is gone
 */
export function wayToBringBack(removed: Removed, variables: GitVariables): BringingBack | null {
  const home = homeOf(removed.common);
  const at = existsSync(home) ? repositoryAt(home) : null;
  if (at === null) return null;
  const place = stayingFolder(at);
  const answer = withRepository(
    at.root,
    variables,
    ASKING,
    (repository) => lineOf(repository, removed, place) ?? 'none',
  );
  return answer === 'none' ? null : (answer ?? 'unanswered');
}

function lineOf(repository: Repository, removed: Removed, place: string): BringingBack | null {
  const ended = endedOf(repository, removed);
  if (ended === 'unanswered') return ended;
  if (ended !== null) return { line: wayBack(ended, place).join(' ') };
  const { root, common } = removed;
  const words = sourceOf(repository, removed);
  if (words === null || words === 'unanswered') return words;
  const known = registeredIn(common).find((one) => one.root === root);
  // Git refuses to make a folder that it has registered, and twice if that is locked.
  const force = known === undefined ? [] : known.lock === null ? ['-f'] : ['-f', '-f'];
  return { line: `git ${shellLine(['-C', place, 'worktree', 'add', ...force, ...words])}` };
}

/**
 * @returns how it was ended, the last time; null if it was not, its contents are gone, or its branch is there again; `unanswered` if git
 *   does not say
 */
function endedOf(repository: Repository, { root, common }: Removed): Removal | 'unanswered' | null {
  const last = removedWorktrees(common).find(({ path }) => path === root);
  if (last === undefined) return null;
  const { kept, head, tip, branch } = last;
  const contents = kept ?? head;
  const commit = contents === null ? null : commitNamed(repository, contents);
  if (commit === null) return null;
  const again = tip === null ? null : commitNamed(repository, `refs/heads/${branch}`);
  if (commit === 'unanswered' || again === 'unanswered') return 'unanswered';
  return again === null ? last : null;
}

/** @returns the folder, with the words about branch and commit around it; null if there is no such commit; `unanswered` if git does not say */
function sourceOf(repository: Repository, { root, branch, head }: Removed): string[] | 'unanswered' | null {
  // Git checks a branch out only once.
  const place = branch === null ? null : placeOnBranch(repository, branch, (other) => isGoneOr(root, other));
  const isBusy = place !== null;
  const tip = branch === null || isBusy ? null : commitNamed(repository, `refs/heads/${branch}`);
  if (place === 'unanswered' || tip === 'unanswered') return 'unanswered';
  if (branch !== null && tip !== null) return [root, branch];
  const commit = head !== null && isCommit(head) ? commitNamed(repository, head) : null;
  if (commit === null || commit === 'unanswered') return commit;
  // An option before the commit: see `wayBack`.
  return branch === null || isBusy ? [root, '--detach', commit] : ['-b', branch, root, '--no-track', commit];
}

/** Whether a worktree is this one, or its folder is gone. */
function isGoneOr(root: string, other: string | null): boolean {
  return other === null || other === root || !existsSync(other);
}
