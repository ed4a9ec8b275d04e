/** The worktrees of a repository, with what git says of each. No byte of the repository is changed. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { SECOND } from '../../src/time.js';
import { commitNamed } from '../git/ancestry.js';
import { checkoutIn } from '../git/checkout.js';
import type { GitVariables } from '../git/gitLine.js';
import { whyUnanswered } from '../git/refusal.js';
import { type Asking, type Repository, withRepository } from '../git/repository.js';
import { type Base, baseOf } from './base.js';
import { type Dirt, stateOf } from './dirt.js';
import { type KeptRef, keptRefs } from './kept.js';
import { type Answer, MOST_IN_A_LIST, Target } from './merged.js';
import type { RepositoryPlace } from './place.js';
import { cutOffRemovals, type Removal, removedWorktrees, runningRemovals } from './records.js';
import { dirtInSubmodules, together } from './submodules.js';
import { type Worktree, worktreesOf } from './worktree.js';

const ASKING: Asking = { about: 'files', preparingMs: 5 * SECOND, askingMs: 30 * SECOND };

export interface ListedWorktree extends Worktree {
  /** The commit; null before the first one, and if it is not known. */
  readonly head: string | null;
  /** Null if git cannot say. */
  readonly dirt: Dirt | null;
  /** Why git cannot say it, in words; null if it can, or was not asked because nothing is there. */
  readonly unanswered: string | null;
  /** Null for the default branch itself, and where there is no commit, or no default branch. */
  readonly merged: Answer | null;
  /** When its last commit was made, UTC epoch milliseconds. */
  readonly last_commit_at: number | null;
}

export interface WorktreeList {
  /** The branch for which {@link ListedWorktree.merged} is answered; null if none is known, or git does not say. */
  readonly base: Base | null;
  readonly worktrees: readonly ListedWorktree[];
  /** The contents of removed worktrees, the newest first; null if git does not say. */
  readonly kept: readonly KeptRef[] | null;
  /** Sentences about the questions that git did not answer. */
  readonly unanswered: readonly string[];
  /** The worktrees that were removed, the last one first. */
  readonly removed: readonly Removal[];
  /** Removals that were cut off. */
  readonly unfinished: readonly Removal[];
  /** Those that other processes are doing. */
  readonly running: readonly Removal[];
}

/**
 * @param here the identity of a process of this host
 * @param variables of the caller
 * @returns null if git is not installed, or refuses the owner of the files
 */
export function listWorktrees(
  place: RepositoryPlace,
  here: ProcessIdentity,
  variables: GitVariables,
): WorktreeList | null {
  return withRepository(place.root, variables, ASKING, (repository) => {
    const worktrees = worktreesOf(place, here, repository);
    const roots = new Set(worktrees.map(({ path }) => path));
    const found = baseOf(repository);
    const base = found === 'unanswered' ? null : found;
    const noBase = base === found ? [] : [`git did not say which branch is the default one, so not what is merged`];
    const unanswered = noBase.map((words) => `${words}: ${whyUnanswered(repository)}`);
    const stated = worktrees.map((worktree) => withState(repository, worktree, roots, variables));
    const answers = answersFor(repository, base, stated);
    const times = commitTimes(
      repository,
      stated.flatMap(({ head }) => head ?? []),
    );
    const kept = keptRefs(repository);
    if (kept === null)
      unanswered.push(`git did not say what is kept of removed worktrees: ${whyUnanswered(repository)}`);
    return {
      base,
      kept,
      unanswered,
      removed: removedWorktrees(repository.common),
      unfinished: cutOffRemovals(repository.common, here),
      running: runningRemovals(repository.common, here),
      worktrees: stated.map((worktree) => ({
        ...worktree,
        merged: answers.get(worktree.path) ?? null,
        last_commit_at: worktree.head === null ? null : (times.get(worktree.head) ?? null),
      })),
    };
  });
}

/** @returns the worktrees without questions about each; null as {@link listWorktrees} */
export function findWorktrees(
  place: RepositoryPlace,
  here: ProcessIdentity,
  variables: GitVariables,
): Worktree[] | null {
  return withRepository(place.root, variables, ASKING, (repository) => worktreesOf(place, here, repository));
}

type Stated = Worktree & Pick<ListedWorktree, 'head' | 'dirt' | 'unanswered'>;

function withState(
  repository: Repository,
  worktree: Worktree,
  roots: ReadonlySet<string>,
  variables: GitVariables,
): Stated {
  const { path, folder, ghost, branch, operation } = worktree;
  if (folder === null) return { ...worktree, head: null, dirt: null, unanswered: null };
  const state = ghost === null ? stateOf(repository, { root: path, folder }, roots) : null;
  if (state === null) {
    const unanswered = ghost === null ? whyUnanswered(repository) : null;
    // The files may be gone, and the commit the only copy of a person's work.
    return { ...worktree, head: headIn(repository, folder, branch), dirt: null, unanswered };
  }
  const known = { ...worktree, head: state.head, branch: state.branch ?? operation?.branch ?? branch };
  const inside = dirtInSubmodules(repository, { root: path, folder }, variables, ASKING);
  if ('path' in inside) return { ...known, dirt: null, unanswered: `${inside.path}: ${whyUnanswered(inside)}` };
  return { ...known, dirt: together(state.dirt, inside), unanswered: null };
}

function headIn({ ask, common }: Repository, folder: string, branch: string | null): string | null {
  const head = checkoutIn({ folder, common })?.head ?? null;
  if (head !== null || branch === null) return head;
  return ask(['rev-parse', '--verify', '-q', `refs/heads/${branch}`])?.trim() || null;
}

function answersFor(repository: Repository, base: Base | null, worktrees: readonly Stated[]): Map<string, Answer> {
  const answers = new Map<string, Answer>();
  if (base === null) return answers;
  const target = new Target(repository, base.commit, MOST_IN_A_LIST);
  const known = new Map<string, Answer>();
  for (const { path, head, branch, operation } of worktrees) {
    // In the middle of a rebase or bisect, another commit is checked out than that of the branch.
    const began = operation?.branch == null ? head : commitNamed(repository, `refs/heads/${operation.branch}`);
    if (began === null || began === 'unanswered' || branch === base.branch) continue;
    const answer = known.get(began) ?? target.answer(began);
    known.set(began, answer);
    answers.set(path, answer);
  }
  return answers;
}

function commitTimes({ ask }: Repository, heads: readonly string[]): Map<string, number> {
  const lines = heads.length === 0 ? [] : (ask(['log', '--no-walk', '--format=%H %ct', ...heads])?.split('\n') ?? []);
  return new Map(
    lines.flatMap((line): [string, number][] => {
      const [commit = '', seconds = ''] = line.split(' ');
      return seconds === '' ? [] : [[commit, Number(seconds) * SECOND]];
    }),
  );
}
