/** An operation of git that is not finished in a worktree. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from './place.js';
import { specialRefs, type Table } from './table.js';

const BRANCH = 'refs/heads/';

export interface Operation {
  readonly kind: 'rebase' | 'am' | 'merge' | 'cherry-pick' | 'revert' | 'bisect';
  /** The branch that a rebase will move, or on which a bisect began. Null if there is none. */
  readonly branch: string | null;
}

/** The first that is there counts: a pick in the middle of a rebase is part of it. */
const SIGNS: readonly (readonly [sign: string, kind: Operation['kind'], branch: string | null])[] = [
  ['rebase-merge', 'rebase', 'rebase-merge/head-name'],
  ['rebase-apply/applying', 'am', null],
  ['rebase-apply', 'rebase', 'rebase-apply/head-name'],
  ['MERGE_HEAD', 'merge', null],
  ['CHERRY_PICK_HEAD', 'cherry-pick', null],
  ['REVERT_HEAD', 'revert', null],
  ['sequencer', 'cherry-pick', null],
  ['BISECT_LOG', 'bisect', 'BISECT_START'],
];

/**
 * @param folder git's folder for the worktree
 * @returns null if it is in the middle of nothing
 */
export function operationIn(repository: Table, folder: string): Operation | null {
  // If git does not answer, no operation is named; its commits are still kept.
  const special = specialRefs(repository, folder);
  for (const [sign, kind, file] of SIGNS) {
    if (!existsSync(join(folder, sign)) && special?.has(sign) !== true) continue;
    const name = file === null ? null : textOf(join(folder, file));
    return { kind, branch: name?.replace(BRANCH, '') ?? null };
  }
  return null;
}
