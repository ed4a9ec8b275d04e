/** Looks at a worktree that is to go, and finds all that git says against it. No byte of the repository is changed. */
import { basename, sep } from 'node:path';
import { shellWord } from '../../src/log/shellWords.js';
import { MINUTE, SECOND } from '../../src/time.js';
import type { GitVariables } from '../git/gitLine.js';
import { type Asking, type Repository, withRepository } from '../git/repository.js';
import { type Base, baseOf } from './base.js';
import { stateOf } from './dirt.js';
import type { Ghost } from './ghosts.js';
import { ignoredIn } from './include.js';
import { type Answer, Target as Merges, MOST_AT_AN_END } from './merged.js';
import { authorReasons, mergeReasons } from './mergeReasons.js';
import { hasCheckout, type RepositoryPlace } from './place.js';
import { ownReasons, type Reason, unanswered, type Way } from './reasons.js';
import { pathOf, stagedIn } from './staged.js';
import { dirtInSubmodules } from './submodules.js';
import { type Target, targetOf, targetWorktree } from './target.js';
import type { Worktree } from './worktree.js';

export const ASKING: Asking = { about: 'files', preparingMs: 5 * SECOND, askingMs: 2 * MINUTE };

export interface Wanted {
  readonly worktree: Worktree;
  readonly way: Way;
  /** A local branch to merge into; null for the default branch. */
  readonly into: string | null;
  /** Whether nothing else matters if it is not merged yet. */
  readonly is_merged_only: boolean;
}

export interface Examined {
  readonly worktree: Worktree;
  readonly way: Way;
  /** As people call it: its branch, else its folder. */
  readonly name: string;
  /** Null if none is checked out. */
  readonly branch: string | null;
  /** The commit that is checked out; null before the first one, and if it is not known. */
  readonly tip: string | null;
  /** Null unless it is to be merged. */
  readonly target: Target | null;
  readonly merged: Answer | null;
  /** The tree that merging it makes, if it is the branch's own; null if a merge has to make it, or none is to be made. */
  readonly own_tree: string | null;
  /** Ignored files, which go with it; null if they were not asked for, or git does not list them. */
  readonly ignored: number | null;
  /** Whether git does not say which branch is the default one. Then nothing can be said of any worktree. */
  readonly is_base_unanswered: boolean;
  readonly reasons: readonly Reason[];
}

/**
 * @param worktrees all of the repository
 * @returns for each one that is wanted; null if git does not answer
 */
export function examine(
  place: RepositoryPlace,
  wanted: readonly Wanted[],
  worktrees: readonly Worktree[],
  variables: GitVariables,
): Examined[] | null {
  return withRepository(place.root, variables, ASKING, (repository) => {
    const examination = new Examination(repository, place, worktrees, variables);
    return wanted.map((each) => examination.of(each));
  });
}

class Examination {
  readonly #repository: Repository;
  readonly #place: RepositoryPlace;
  readonly #worktrees: readonly Worktree[];
  /** By the commit of the target: its commits are read once for all that are merged into it. */
  readonly #merges = new Map<string, Merges>();
  /** The default branch. Undefined until it is asked for; null if none is known. */
  #base: Base | 'unanswered' | null | undefined;
  readonly #variables: GitVariables;
  /** Undefined until the first merge is asked for. */
  #authorReasons: readonly Reason[] | undefined;

  constructor(repository: Repository, place: RepositoryPlace, worktrees: readonly Worktree[], variables: GitVariables) {
    this.#repository = repository;
    this.#place = place;
    this.#worktrees = worktrees;
    this.#variables = variables;
  }

  of({ worktree, way, into, is_merged_only }: Wanted): Examined {
    const { path, folder, ghost } = worktree;
    const name = worktree.branch ?? basename(path);
    const nothing = {
      worktree,
      way,
      name,
      branch: worktree.branch,
      tip: null,
      target: null,
      merged: null,
      own_tree: null,
      ignored: null,
      is_base_unanswered: false,
    };
    const roots = new Set(this.#worktrees.map((each) => each.path));
    if (ghost !== null) return { ...nothing, reasons: [leftover(path, ghost)] };
    const state = folder === null ? null : stateOf(this.#repository, { root: path, folder }, roots);
    if (folder === null || state === null) return { ...nothing, reasons: [this.#unanswered(`what is in ${path}`)] };
    const branch = state.branch ?? worktree.branch;
    const { reasons, ...merging } = this.#merging({ way, into, is_merged_only, branch, tip: state.head });
    const known = { ...nothing, name: branch ?? name, branch, tip: state.head, ...merging };
    if (is_merged_only && merging.merged?.merged !== 'yes') return { ...known, reasons };
    const staged = stagedIn(this.#repository, { root: path, folder });
    const ignored = ignoredIn(this.#repository, { root: path, folder });
    // Ignored files may include repositories.
    if (staged === null || ignored === null)
      return { ...known, reasons: [this.#unanswered(`what is in ${path}`), ...reasons] };
    const inSubmodules = dirtInSubmodules(this.#repository, { root: path, folder }, this.#variables, ASKING);
    if ('path' in inSubmodules)
      return { ...known, reasons: [unanswered(`what is in ${inSubmodules.path}`, inSubmodules), ...reasons] };
    const main = hasCheckout(this.#place) ? { root: this.#place.home, folder: this.#place.common } : null;
    const inside = [...roots].filter((root) => root.startsWith(path + sep));
    const facts = {
      worktree: { ...worktree, folder },
      way,
      dirt: state.dirt,
      inside_submodules: inSubmodules,
      ...staged,
      tracked: staged.entries.map(pathOf),
      hidden: staged.hidden.map((path) => Buffer.from(path, 'latin1').toString()),
      ignored,
      inside,
      main,
    };
    return {
      ...known,
      ignored: ignored.filter((file) => !file.endsWith('/')).length,
      reasons: [...ownReasons(this.#repository, facts), ...reasons],
    };
  }

  #merging({ way, into, is_merged_only, branch, tip }: Omit<Wanted, 'worktree'> & Pick<Examined, 'branch' | 'tip'>) {
    const none = { target: null, merged: null, own_tree: null };
    if (way === 'keep_branch') return { ...none, reasons: [] };
    if (this.#base === undefined) this.#base = baseOf(this.#repository);
    const base = this.#base;
    if (base === 'unanswered')
      return { ...none, is_base_unanswered: true, reasons: [this.#unanswered('which branch is the default one')] };
    if (branch !== null && branch === base?.branch) return { ...none, reasons: [defaultBranch(branch)] };
    if (way !== 'merge') return { ...none, reasons: [] };
    const wanted = into ?? base;
    const target = wanted === null ? null : targetOf(this.#repository, this.#worktrees, wanted);
    if (target === 'unanswered') return { ...none, reasons: [this.#unanswered(`where ${into ?? base?.branch} is`)] };
    if (target === null || tip === null || branch === target.branch)
      return { ...none, reasons: [noTarget(into, target, tip)] };
    const merges = this.#merges.get(target.commit) ?? new Merges(this.#repository, target.commit, MOST_AT_AN_END);
    this.#merges.set(target.commit, merges);
    const merged = merges.answer(tip);
    if (merged.merged === 'yes' || is_merged_only) return { ...none, target, merged, reasons: [] };
    const tree = merges.treeOf(tip);
    const checkedOut = targetWorktree(this.#repository, this.#worktrees, target);
    const reasons = mergeReasons(this.#repository, { into: target, answer: merged, tree, target: checkedOut });
    const own_tree = merges.isForward(tip) ? tree : null;
    return { target, merged, own_tree, reasons: [...reasons, ...this.#ofAuthor()] };
  }

  #unanswered(what: string): Reason {
    return unanswered(what, this.#repository);
  }

  #ofAuthor(): readonly Reason[] {
    this.#authorReasons ??= authorReasons(this.#repository, this.#variables);
    return this.#authorReasons;
  }
}

function leftover(path: string, { kind }: Ghost): Reason {
  const words = {
    folder_gone: `its folder ${path} is not there`,
    replaced: `${path} belongs to another repository`,
    unreadable: `git's folder ${path} does not say where it is`,
    unregistered: `${path} was a worktree that git does not know any more`,
    moved: `${path} was moved by hand, and git looks for it elsewhere`,
    lost_git: `${path} has lost its .git`,
  };
  const remedies: Partial<Record<Ghost['kind'], string>> = {
    folder_gone: `if it is on a disk that is not there now, attach that first; if it was moved, \`git worktree repair\` with its folder; only otherwise \`git worktree prune\`, which leaves its branch`,
    moved: `\`git worktree repair ${shellWord(path)}\``,
  };
  return {
    reason: 'leftover',
    words: words[kind],
    remedy: remedies[kind] ?? '`watchkeeper worktree list` says what to do about leftovers; look at its files first',
  };
}

function defaultBranch(branch: string): Reason {
  return {
    reason: 'default_branch',
    words: `${branch} is the default branch`,
    remedy: 'to remove the folder only, say --keep-branch',
  };
}

function noTarget(into: string | null, target: Target | null, tip: string | null): Reason {
  const words =
    tip === null
      ? 'it has no commit yet'
      : target !== null
        ? `${target.branch} cannot be merged into itself`
        : into === null
          ? 'there is no default branch with a commit'
          : `there is no branch ${into}`;
  return { reason: 'not_mergeable', words, remedy: 'name a local branch with --into BRANCH, or say --discard' };
}
