/** The reasons against a merge: the target's own files, conflicts, and what git cannot merge. No byte of the repository is changed. */
import { shellWord } from '../../src/log/shellWords.js';
import { shortCommit } from '../git/checkout.js';
import type { GitVariables } from '../git/gitLine.js';
import { withRefusal } from '../git/refusal.js';
import type { Repository } from '../git/repository.js';
import type { Answer } from './merged.js';
import { named, type Reason, unanswered, withoutFilters } from './reasons.js';
import { type Into, isAuthorKnown } from './squash.js';
import { inTheWay, type TargetWorktree } from './target.js';

export interface Merging {
  readonly into: Into;
  readonly answer: Answer;
  readonly tree: string | null;
  /** Null if it is checked out nowhere. */
  readonly target: TargetWorktree | null;
}

/**
 * Looks for all that prevents the merge.
 * @param tree what merging it now makes; null if that is not to be done, or cannot be
 */
export function mergeReasons(repository: Repository, { into, answer, tree, target }: Merging): Reason[] {
  const { merged, now, conflicts, why } = answer;
  if (merged === 'yes') return [];
  if (now === 'conflicts') {
    const remedy = `merge ${into.branch} into it and settle them there, or rebase it`;
    return [
      { reason: 'conflicts', words: `merging conflicts in ${named(conflicts)}`, remedy },
      ...targetReasons(repository, into, target, null),
    ];
  }
  if (tree !== null) return targetReasons(repository, into, target, tree);
  const remedies: Partial<Record<typeof why, string>> = {
    unrelated: 'it has no common history with the target: merge it by hand',
    shallow: '`git fetch --unshallow`, and try again',
    old_git: 'merging needs git 2.38 or later',
  };
  const what = `git cannot say what merging it into ${into.branch} (${shortCommit(into.commit)}) would change`;
  return [
    {
      reason: 'not_mergeable',
      words: why === 'unreadable' ? withRefusal(what, repository) : what,
      remedy: remedies[why] ?? 'merge it by hand',
    },
    ...targetReasons(repository, into, target, null),
  ];
}

/** The merge makes a commit, and git makes none without a name. */
export function authorReasons(repository: Repository, variables: GitVariables): Reason[] {
  if (isAuthorKnown(repository, variables)) return [];
  return [
    {
      reason: 'identity',
      words: 'git does not know in whose name it would make the commit of the merge',
      remedy: '`git config user.name NAME` and `git config user.email ADDRESS`',
    },
  ];
}

function targetReasons(
  repository: Repository,
  into: Into,
  target: TargetWorktree | null,
  tree: string | null,
): Reason[] {
  if (target === null) return [];
  const { root, changed, operation } = target;
  const status = `\`git -C ${shellWord(root)} status\``;
  const way = tree === null ? [] : inTheWay(repository, target, into.local ?? into.commit, tree);
  const unfiltered = withoutFilters(repository, target, changed ?? []);
  const reason = 'target';
  return [
    ...(operation === null
      ? []
      : [
          {
            reason,
            words: `in ${root}, where ${into.branch} is checked out, a ${operation.kind} is in progress`,
            remedy: `finish it: ${status}`,
          } as const,
        ]),
    ...(changed === null
      ? [
          {
            reason,
            words: withRefusal(
              `git cannot say what is changed in ${root}, where ${into.branch} is checked out`,
              repository,
            ),
            remedy: status,
          } as const,
        ]
      : []),
    ...(changed !== null && changed.length > 0
      ? [
          {
            reason,
            words: `${root}, where ${into.branch} is checked out, has changes in ${named(changed)}${unfiltered.words}`,
            remedy: `commit or stash them: ${status}${unfiltered.remedy}`,
          } as const,
        ]
      : []),
    ...(way === null ? [unanswered(`which files of ${root} are in the way of the merge`, repository)] : []),
    ...(way !== null && way.length > 0
      ? [
          {
            reason,
            words: `${named(way)} in ${root} is in no commit, and is in the way of a file that would come with the merge`,
            remedy: 'move it elsewhere, or add it to a commit',
          } as const,
        ]
      : []),
  ];
}
