/**
 * Ends a worktree that nothing speaks against: keeps what no branch has, merges it, and removes it. Each step is harmless if it is the
 * last, and the same call finishes.
 */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { GitVariables } from '../git/gitLine.js';
import { type Repository, withRepository } from '../git/repository.js';
import { baseOf } from './base.js';
import { type Contents, contentsOf } from './contents.js';
import { conversionsOf } from './conversions.js';
import { ASKING } from './examine.js';
import { forgetKept, keep, removeOld } from './kept.js';
import { type Merging, mergeInto } from './mergeInto.js';
import { type RepositoryPlace, stayingFolder } from './place.js';
import { doomedName, finishing, type Removal, writeRecord } from './records.js';
import { remoteBranch } from './remote.js';
import { finishRemoval, type RemoteBranch, type Ended as Removed, removeWorktree, takenAway } from './removal.js';
import { wayBack } from './wayBack.js';

const LOCAL = 'refs/heads/';
/** How `git rev-parse --verify` exits if there is no such name. */
const NO_SUCH = 1;

export interface Ending extends Merging {
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
  /** The command that finishes a removal that has begun; null if it is finished, or has not begun. */
  readonly finished_by: string | null;
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
 * @param keepsBranch whether the branch is to stay, also if it was to go before
 * @returns null if git does not answer
 * @throws the file system's error, if that cannot be recorded
 */
export function finishWorktree(
  place: RepositoryPlace,
  cutOff: Removal,
  { isRemote, keepsBranch }: { readonly isRemote: boolean; readonly keepsBranch: boolean },
  variables: GitVariables,
): Pick<Removed, 'fault' | 'removal' | 'asides'> | null {
  const removal = keepsBranch ? { ...cutOff, tip: null, way: 'keep_branch' as const } : cutOff;
  if (keepsBranch && cutOff.tip !== null) writeRecord(place.common, removal);
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
    const merged = mergeInto(this.#repository, this.#place, this.#ending, this.#variables);
    if ('fault' in merged) return this.#stays(merged.fault);
    this.#commit = merged.commit;
    this.#asides.push(...merged.asides);
    // It is asked where the worktree may be.
    const old = removeOld(this.#repository, this.#ending.removed_days, this.#ending.now, this.#variables);
    const { fault: left, is_begun, asides, branch_removed, removal } = this.#remove(contents, folder);
    this.#isBranchRemoved = branch_removed;
    const days = `kept for more than ${this.#ending.removed_days} days, and gone:`;
    this.#asides.push(...asides, ...(old.length === 0 ? [] : [`${days} ${old.join(', ')}`]));
    if (left !== null && !is_begun) return this.#stays(left);
    return this.#ended(left, left === null ? null : finishing(removal));
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
    // If git does not answer, this branch may be the only one, so keep the commit.
    const lines = this.#repository.ask(words)?.split('\n') ?? [];
    const holders = lines.filter((line) => line.endsWith('\t')).map((line) => line.slice(LOCAL.length, -1));
    const others = holders.filter((branch) => branch !== examined.branch);
    if (others.length === 0) return false;
    const leaving = new Set(worktrees.flatMap((each) => (each.is_main ? [] : [each.branch])));
    const base = baseOf(this.#repository);
    const lasting = base === 'unanswered' ? null : base?.branch;
    return others.some((branch) => branch === lasting || !leaving.has(branch));
  }

  #remove(contents: Contents, folder: string) {
    const { examined, is_remote_removed, now } = this.#ending;
    const { worktree, name, branch, tip, way } = examined;
    const { path } = worktree;
    const { head, commit, has_conflicts, forgotten, changed, own_files, is_sparse } = contents;
    const filters = conversionsOf(this.#repository, { root: path, folder }, changed);
    const leaving = this.#leavingBranch();
    const removal: Removal = {
      ...{ v: 1, name, path, folder, branch, is_confirmed: false, is_detached: false, at: now },
      ...{ doomed: doomedName(path, this.#ending.by.pid), by: this.#ending.by },
      ...{ tip: leaving === null ? null : tip, kept: this.#kept, head, has_conflicts },
      ...{ way, is_remote_removed },
      ...{ has_files: commit !== null, has_forgotten: forgotten.commits.length > 0, filters, own_files, is_sparse },
    };
    const remote = is_remote_removed && leaving !== null && tip !== null ? this.#remoteOf(leaving, tip) : null;
    const whyNotAsKept = (root: string) => this.#whyNotAsKept(root, contents, folder);
    const removing = { whyNotAsKept, remote, repository: this.#repository };
    const removed = removeWorktree(this.#place.common, removal, removing, this.#variables);
    const isCutOff = removed.fault !== null;
    if (removed.is_begun) this.#wayBack = wayBack(removed.removal, stayingFolder(this.#place), isCutOff);
    return removed;
  }

  /** As of {@link removeWorktree}. */
  #whyNotAsKept(root: string, { head, commit }: Contents, folder: string): string | null {
    const { path } = this.#ending.examined.worktree;
    const again = this.#contents(root, folder);
    if (typeof again === 'string') return `it cannot be seen whether ${path} is as it was kept: ${again}: try again`;
    if (again.head !== head || again.commit !== commit) return `${path} was changed in the meantime: try again`;
    if (this.#kept === null) return null;
    const { code } = this.#repository.attempt(['rev-parse', '--verify', '-q', this.#kept]);
    if (code === 0) return null;
    // Another process may have given up the same ref.
    return code === NO_SUCH
      ? `${this.#kept} is gone, which kept what ${path} holds: try again`
      : `git does not say whether ${this.#kept} still keeps what ${path} holds: try again`;
  }

  #remoteOf(branch: string, tip: string): RemoteBranch | null {
    const found = remoteBranch(this.#repository, branch, tip, this.#variables);
    if (typeof found !== 'string') return found;
    this.#asides.push(found);
    return null;
  }

  /** Nothing was removed. The kept ref would be listed as a removed worktree, and perhaps has an older state of this one. */
  #stays(fault: string): Ended {
    const kept = this.#newlyKept;
    // Without the folder, another process may be removing it, and rely on that ref.
    const isForgotten =
      kept === null ||
      (existsSync(this.#ending.examined.worktree.path) && forgetKept(this.#repository, kept, this.#variables));
    this.#kept = isForgotten ? null : kept;
    return this.#ended(fault, null);
  }

  #ended(fault: string | null, finishedBy: string | null): Ended {
    return {
      ...{ fault, finished_by: finishedBy, kept: this.#kept, commit: this.#commit },
      branch_removed: this.#isBranchRemoved,
      ...{ way_back: this.#wayBack, asides: this.#asides },
    };
  }
}
