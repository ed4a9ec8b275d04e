/** Merges a worktree that is examined: its tree becomes one commit, and the target moves to it. */
import { shortCommit } from '../git/checkout.js';
import type { GitVariables } from '../git/gitLine.js';
import { whyUnanswered } from '../git/refusal.js';
import type { Repository } from '../git/repository.js';
import { commitHooks } from './commitHooks.js';
import type { Examined } from './examine.js';
import { Target as Merges } from './merged.js';
import type { RepositoryPlace } from './place.js';
import { commitSquash, moveTarget } from './squash.js';
import { type Target, targetOf } from './target.js';
import type { Worktree } from './worktree.js';

/** The merged tree needs no look at earlier commits. */
const NO_LOOK_BACK = 1;

export interface Merging {
  readonly examined: Examined;
  /** All of the repository. */
  readonly worktrees: readonly Worktree[];
  /** The message of the squash commit. */
  readonly message: string;
}

interface Merged {
  /** The squash commit; null if there was nothing to merge. */
  readonly commit: string | null;
  readonly asides: readonly string[];
}

/** @returns what was merged; or why nothing was */
export function mergeInto(
  repository: Repository,
  place: RepositoryPlace,
  { examined, worktrees, message }: Merging,
  variables: GitVariables,
): Merged | { readonly fault: string } {
  const { target, merged, tip, own_tree } = examined;
  if (target === null || merged?.merged === 'yes' || tip === null) return { commit: null, asides: [] };
  const before = movedFault(repository, worktrees, target);
  if (before !== null) return { fault: before };
  const tree = own_tree ?? new Merges(repository, target.commit, NO_LOOK_BACK).storedTree(tip);
  if (tree === null) return { fault: 'git cannot merge it' };
  const squash = commitSquash(repository, { tree, parent: target.commit, message }, variables);
  if ('fault' in squash) return { fault: `git did not make the commit, so nothing was merged: ${squash.fault}` };
  const { commit } = squash;
  const fault = moveTarget(repository, target, commit, variables);
  if (fault !== null) {
    const stays = `${target.branch} does not move to the squash commit ${commit}: ${fault}`;
    return { fault: movedFault(repository, worktrees, target, stays) ?? stays };
  }
  const hooks = commitHooks(repository, target.root ?? place.root, variables);
  const named = hooks === null ? '' : `: ${hooks.join(', ')}`;
  return {
    commit,
    asides: hooks?.length === 0 ? [] : [`no commit hook has run for ${shortCommit(commit)}${named}`],
  };
}

/**
 * @param unanswered what to say if git does not say where the target is; that, if null
 * @returns why it cannot move from where it was when it was examined; null if it is still there
 */
function movedFault(
  repository: Repository,
  worktrees: readonly Worktree[],
  { branch, local }: Target,
  unanswered: string | null = null,
): string | null {
  const now = targetOf(repository, worktrees, branch);
  if (now === 'unanswered')
    return unanswered ?? `git does not say where ${branch} is now: ${whyUnanswered(repository)}`;
  return now?.local === local ? null : `${branch} has moved in the meantime: try again`;
}
