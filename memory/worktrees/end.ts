/**
 * Ends a worktree that nothing speaks against: keeps what no branch has, merges it, and removes it. Each step is harmless if it is the
 * last, and the same call finishes.
 */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { shortCommit } from '../git/checkout.js';
import type { GitVariables } from '../git/gitLine.js';
import { type Repository, withRepository } from '../git/repository.js';
import { baseOf } from './base.js';
import { commitHooks } from './commitHooks.js';
import { type Contents, contentsOf } from './contents.js';
import { conversionsOf } from './conversions.js';
import { ASKING, type Examined } from './examine.js';
import { forgetKept, keep, removeOld } from './kept.js';
import { Target as Merges } from './merged.js';
import { type RepositoryPlace, stayingFolder } from './place.js';
import { doomedName, type Removal } from './records.js';
import { remoteBranch } from './remote.js';
import { finishRemoval, type RemoteBranch, removeWorktree, takenAway } from './removal.js';
import { commitSquash, moveTarget } from './squash.js';
import { targetOf } from './target.js';
import { wayBack } from './wayBack.js';
import type { Worktree } from './worktree.js';

const LOCAL = 'refs/heads/';
/** The merged tree needs no look at earlier commits. */
const NO_LOOK_BACK = 1;

export interface Ending {
  readonly examined: Examined;
  /** All of the repository. */
  readonly worktrees: readonly Worktree[];
  /** The message of the squash commit. */
  readonly message: string;
  /** Whether the remote branch goes, too. */
  readonly is_remote_removed: boolean;
  /** Kept contents that are older go. */
  readonly removed_days: number;
  /** UTC epoch milliseconds. */
  readonly now: number;
  /** The process that does it. */
  readonly by: ProcessIdentity;
}

export interface Ended {
  /** Why it stays, or which step is left; null if it is gone. */
  readonly fault: string | null;
  /** The ref that keeps the contents; null if other branches have all of them. */
  readonly kept: string | null;
  /** The squash commit; null if none was made. */
  readonly commit: string | null;
  readonly branch_removed: boolean;
  readonly way_back: readonly string[];
  readonly asides: readonly string[];
}

/** @returns null if git does not answer */
export function endWorktree(place: RepositoryPlace, ending: Ending, variables: GitVariables): Ended | null {
  return withRepository(place.root, variables, ASKING, (repository) =>
    new Performance(repository, place, ending, variables).run(),
  );
}

/**
 * Finishes a removal that was cut off.
 * @param isRemote whether the remote branch is to go
 * @returns null if git does not answer
 */
export function finishWorktree(
  place: RepositoryPlace,
  removal: Removal,
  isRemote: boolean,
  variables: GitVariables,
): (Pick<Ended, 'fault' | 'asides'> & { readonly branch_stays: boolean }) | null {
  const { branch, tip } = removal;
  return withRepository(place.root, variables, ASKING, (repository) => {
    const asked = isRemote && branch !== null && tip !== null;
    const remote = asked ? remoteBranch(repository, branch, tip, variables) : null;
    const said = typeof remote === 'string' ? [remote] : [];
    const going = typeof remote === 'string' ? null : remote;
    const ended = finishRemoval(place.common, removal, { remote: going, repository }, variables);
    return { ...ended, asides: [...said, ...ended.asides] };
  });
}

class Performance {
  readonly #repository: Repository;
  readonly #place: RepositoryPlace;
  readonly #ending: Ending;
  readonly #variables: GitVariables;
  readonly #asides: string[] = [];
  #kept: string | null = null;
  #newlyKept: string | null = null;
  #commit: string | null = null;
  #wayBack: readonly string[] = [];
  #isBranchRemoved = false;

  constructor(repository: Repository, place: RepositoryPlace, ending: Ending, variables: GitVariables) {
    this.#repository = repository;
    this.#place = place;
    this.#ending = ending;
    this.#variables = variables;
  }

  run(): Ended {
    const { worktree, way, tip } = this.#ending.examined;
    const { path, folder } = worktree;
    if (folder === null) return this.#stays(`git does not know ${path}`);
    const contents = this.#contents(path, folder);
    if (typeof contents === 'string') return this.#stays(existsSync(path) ? contents : takenAway(path));
    const isChanged = contents.head !== tip || (contents.is_dirty && way !== 'discard');
    if (isChanged) return this.#stays(`${path} was changed in the meantime: try again`);
    const unkept = this.#keep(contents);
    if (unkept !== null) return this.#stays(unkept);
    const fault = this.#merge();
    if (fault !== null) return this.#staysWhole(fault);
    // It is asked where the worktree may be.
    const old = removeOld(this.#repository, this.#ending.removed_days, this.#ending.now, this.#variables);
    const { fault: left, asides, branch_removed } = this.#remove(contents, folder);
    this.#isBranchRemoved = branch_removed;
    const days = `kept for more than ${this.#ending.removed_days} days, and gone:`;
    this.#asides.push(...asides, ...(old.length === 0 ? [] : [`${days} ${old.join(', ')}`]));
    return this.#ended(left);
  }

  #contents(root: string, folder: string): Contents | string {
    const { name } = this.#ending.examined;
    const roots = new Set(this.#ending.worktrees.map(({ path }) => path));
    return contentsOf(this.#repository, { root, folder, name, branch: this.#leavingBranch() }, roots);
  }

  /** @returns the branch that goes; null if none does */
  #leavingBranch(): string | null {
    const { way, branch, tip } = this.#ending.examined;
    return way === 'keep_branch' || tip === null ? null : branch;
  }

  #keep(contents: Contents): string | null {
    const { examined, now } = this.#ending;
    const { tip, way, branch, worktree } = examined;
    const isTipLeft = tip !== null && !(way === 'keep_branch' && branch !== null) && !this.#isHeld(tip);
    const commit = contents.commit ?? (isTipLeft ? tip : null);
    if (commit !== null) {
      const name = branch ?? basename(worktree.path);
      const { others } = contents.forgotten;
      const kept = keep(this.#repository, { name, commit, others }, now, this.#variables);
      if ('fault' in kept) return `what it holds cannot be kept, so nothing was removed: ${kept.fault}`;
      this.#kept = kept.ref;
      this.#newlyKept = kept.is_new ? kept.ref : null;
    }
    return null;
  }

  /**
   * Whether another branch has a commit. The branch of another worktree may go at the same time, and another name of a branch has nothing
   * without it.
   */
  #isHeld(commit: string): boolean {
    const { examined, worktrees } = this.#ending;
    const words = ['for-each-ref', '--format=%(refname)%09%(symref)', '--contains', commit, LOCAL];
    // Unanswered, it may be the only one: the commit is kept.
    const lines = this.#repository.ask(words)?.split('\n') ?? [];
    const holders = lines.filter((line) => line.endsWith('\t')).map((line) => line.slice(LOCAL.length, -1));
    const others = holders.filter((branch) => branch !== examined.branch);
    if (others.length === 0) return false;
    const leaving = new Set(worktrees.flatMap((each) => (each.is_main ? [] : [each.branch])));
    const base = baseOf(this.#repository);
    const lasting = base === 'unanswered' ? null : base?.branch;
    return others.some((branch) => branch === lasting || !leaving.has(branch));
  }

  #merge(): string | null {
    const { examined, worktrees, message } = this.#ending;
    const { target, merged, tip, own_tree } = examined;
    if (target === null || merged?.merged === 'yes' || tip === null) return null;
    const again = targetOf(this.#repository, worktrees, target.branch);
    const moved = `${target.branch} has moved in the meantime: try again`;
    if (again?.local !== target.local) return moved;
    const tree = own_tree ?? new Merges(this.#repository, target.commit, NO_LOOK_BACK).storedTree(tip);
    if (tree === null) return 'git cannot merge it';
    const squash = commitSquash(this.#repository, { tree, parent: target.commit, message }, this.#variables);
    if ('fault' in squash) return `git did not make the commit, so nothing was merged: ${squash.fault}`;
    const fault = moveTarget(this.#repository, target, squash.commit, this.#variables);
    if (fault !== null && targetOf(this.#repository, worktrees, target.branch)?.local !== target.local) return moved;
    if (fault !== null) return `${target.branch} does not move to the squash commit ${squash.commit}: ${fault}`;
    this.#commit = squash.commit;
    const hooks = commitHooks(this.#repository, target.root ?? this.#place.root, this.#variables);
    if (hooks === null || hooks.length > 0)
      this.#asides.push(
        `no commit hook has run for ${shortCommit(squash.commit)}${hooks ? `: ${hooks.join(', ')}` : ''}`,
      );
    return null;
  }

  #remove(contents: Contents, folder: string) {
    const { examined, is_remote_removed, now } = this.#ending;
    const { worktree, name, branch, tip } = examined;
    const { path } = worktree;
    const { head, commit, has_conflicts, forgotten, changed, own_files, is_sparse } = contents;
    const filters = conversionsOf(this.#repository, { root: path, folder }, changed);
    const leaving = this.#leavingBranch();
    const removal: Removal = {
      ...{ v: 1, name, path, folder, branch, is_confirmed: false, at: now },
      ...{ doomed: doomedName(path, this.#ending.by.pid), by: this.#ending.by },
      ...{ tip: leaving === null ? null : tip, kept: this.#kept, head, has_conflicts },
      ...{ has_files: commit !== null, has_forgotten: forgotten.commits.length > 0, filters, own_files, is_sparse },
    };
    this.#wayBack = wayBack(removal, stayingFolder(this.#place));
    const remote = is_remote_removed && leaving !== null && tip !== null ? this.#remoteOf(leaving, tip) : null;
    const isAsKept = (root: string) => {
      const again = this.#contents(root, folder);
      // Another process may have given up the same ref.
      const isRefThere =
        this.#kept === null || this.#repository.attempt(['rev-parse', '--verify', '-q', this.#kept]).code === 0;
      const isSame = typeof again !== 'string' && again.head === contents.head && again.commit === contents.commit;
      return isRefThere && isSame;
    };
    const removing = { isAsKept, remote, repository: this.#repository };
    const removed = removeWorktree(this.#place.common, removal, removing, this.#variables);
    if (removed.branch_stays) this.#wayBack = wayBack({ ...removal, tip: null }, stayingFolder(this.#place));
    return removed;
  }

  #remoteOf(branch: string, tip: string): RemoteBranch | null {
    const found = remoteBranch(this.#repository, branch, tip, this.#variables);
    if (typeof found !== 'string') return found;
    this.#asides.push(found);
    return null;
  }

  /** The kept ref would be listed as a removed worktree. */
  #staysWhole(fault: string): Ended {
    const kept = this.#newlyKept;
    if (kept !== null && forgetKept(this.#repository, kept, this.#variables)) this.#kept = null;
    return this.#stays(fault);
  }

  #stays(fault: string): Ended {
    return this.#ended(fault);
  }

  #ended(fault: string | null): Ended {
    return {
      ...{ fault, kept: this.#kept, commit: this.#commit, branch_removed: this.#isBranchRemoved },
      ...{ way_back: this.#wayBack, asides: this.#asides },
    };
  }
}
