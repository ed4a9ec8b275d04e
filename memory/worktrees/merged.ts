/**
 * Whether a branch is merged: its change may have come into the target by a merge, as one commit (a squash), or commit by commit.
 *
 * 1. Its tip is a commit of the target's history, or merging it changes nothing.
 * 2. One commit of the target makes the whole change of the branch. The branch must be seen as merged also if the same lines were
 *    changed afterwards, so this looks at commits made since both parted, and not at the target's files.
 * 3. Each of its commits was made again in the target.
 *
 * Commits are the same change if they change the same files, modes and lines, between the same neighbouring lines. `git cherry` is not
 * asked: it takes modes and white space for nothing, and reads the target's commits again for each branch.
 */
import type { Repository } from '../git/repository.js';
import { Changes } from './again.js';

export type Why =
  | 'same'
  | 'ancestor'
  | 'nothing_to_change'
  | 'squashed'
  | 'picked'
  | 'not_merged'
  | 'partly_picked'
  | 'conflicting'
  | 'unrelated'
  | 'shallow'
  | 'too_far'
  | 'unreadable'
  | 'old_git';

export interface Answer {
  readonly merged: 'yes' | 'no' | 'unknown';
  readonly why: Why;
  /** The effect of merging now; null if it is not known. */
  readonly now: 'nothing' | 'changes' | 'conflicts' | null;
  /** The files in conflict. */
  readonly conflicts: readonly string[];
  /** The commit of the target that makes the whole change; null if none does, or it was not looked for. */
  readonly commit: string | null;
  /** How many of its commits the target has in other commits; null if they were not compared. */
  readonly picked: { readonly count: number; readonly of: number } | null;
}

/** How git exits. */
const CONFLICTS = 1;
const NOT_FOUND = 1;
const BAD_USAGE = 129;
/** Trial merges for one branch: each is of a commit with the same lines at perhaps another place. */
const MOST_MERGES = 20;

const MERGE_TREE = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages'];
/** As `latin1`: paths of any encoding remain different. */
const ATTRIBUTES = /(?:^|\/)\.gitattributes$/;

const PLAIN = { conflicts: [], commit: null, picked: null } as const;
const NOTHING = { now: 'nothing', conflicts: [] } as const;

/** The limits of a look, in commits of the target, and in those of a branch. */
export const MOST_IN_A_LIST = 500;
export const MOST_AT_AN_END = 5_000;

interface Trial {
  readonly now: 'nothing' | 'changes' | 'conflicts';
  readonly conflicts: readonly string[];
}

/** A branch into which others may be merged. Its commits are read once for all of them. */
export class Target {
  readonly #repository: Repository;
  readonly #commit: string;
  readonly #most: number;
  readonly #changes: Changes;
  /** Undefined until a branch needs it; null if it cannot be read. */
  #tree: string | null | undefined;
  /** Undefined until a merge is tried; false if its files cannot be listed. */
  #isPrepared: boolean | undefined;
  /** What merging each commit without a conflict makes. */
  readonly #trees = new Map<string, string>();
  readonly #forward = new Set<string>();

  /**
   * @param commit the whole name of its tip
   * @param most how many commits of the target are looked at, and of a branch
   */
  constructor(repository: Repository, commit: string, most: number) {
    this.#repository = repository;
    this.#commit = commit;
    this.#most = most;
    this.#changes = new Changes(repository);
  }

  /** @param tip the whole name of the commit of a branch */
  answer(tip: string): Answer {
    if (tip === this.#commit) return yes('same', NOTHING);
    const { code, out } = this.#repository.attempt(['merge-base', this.#commit, tip]);
    const base = out.trim();
    if (code === NOT_FOUND) return unknown(this.#isShallow() ? 'shallow' : 'unrelated');
    if (code !== 0) return unknown('unreadable');
    if (base === tip) return yes('ancestor', NOTHING);
    const trial = base === this.#commit ? this.#moveOn(tip) : this.#try(tip);
    if (typeof trial === 'string') return unknown(trial);
    return trial.now === 'nothing' ? yes('nothing_to_change', trial) : this.#lookBack(tip, base, trial);
  }

  /**
   * @param tip about which {@link answer} was asked
   * @returns the tree that merging it makes, in the objects of the trial; null if there is a conflict, or git did not merge
   */
  treeOf(tip: string): string | null {
    return this.#trees.get(tip) ?? null;
  }

  /** @returns whether that tree is the branch's own, because nothing has come into the target since both parted */
  isForward(tip: string): boolean {
    return this.#forward.has(tip);
  }

  /** @returns the tree that merging a commit makes, as an object of the repository; null if there is a conflict, or git cannot merge */
  storedTree(tip: string): string | null {
    if (!this.#prepare()) return null;
    // Git prints a tree with marks of conflicts, too, and then exits with 1.
    const { code, out } = this.#repository.store([...MERGE_TREE, this.#commit, tip]);
    return code === 0 ? out.split('\0')[0] || null : null;
  }

  /** A merge makes the tree of the branch then, so none is tried. */
  #moveOn(tip: string): Trial | Why {
    const [before, after] = this.#ask('rev-parse', `${this.#commit}^{tree}`, `${tip}^{tree}`)?.split('\n') ?? [];
    if (before === undefined || after === undefined) return 'unreadable';
    this.#forward.add(tip);
    this.#trees.set(tip, after);
    return { now: before === after ? 'nothing' : 'changes', conflicts: [] };
  }

  #try(tip: string): Trial | Why {
    if (this.#tree === undefined)
      this.#tree = this.#ask('rev-parse', '--verify', '-q', `${this.#commit}^{tree}`)?.trim() ?? null;
    return this.#tree === null || !this.#prepare() ? 'unreadable' : this.#merge(this.#commit, tip, this.#tree);
  }

  /**
   * Gives the trial the attributes of the target: a merge reads them from a worktree, and that of the trial is empty. No filter runs,
   * because none is configured there.
   * @returns false if the target's files cannot be listed
   */
  #prepare(): boolean {
    this.#isPrepared ??= this.#takeAttributes();
    return this.#isPrepared;
  }

  #takeAttributes(): boolean {
    const list = ['ls-tree', '-r', '-z', '--name-only', this.#commit];
    const { code, out } = this.#repository.attempt(list, { encoding: 'latin1' });
    if (code !== 0) return false;
    const files = out.split('\0').filter((path) => ATTRIBUTES.test(path));
    if (files.length === 0) return true;
    if (this.#ask('read-tree', this.#commit) === null) return false;
    const input = files.map((path) => `${path}\0`).join('');
    this.#repository.attempt(['checkout-index', '-z', '--stdin'], { input, encoding: 'latin1' });
    return true;
  }

  /** Looks for the change of a branch in the commits of the target since they parted. */
  #lookBack(tip: string, base: string, trial: Trial): Answer {
    const theirs = base === this.#commit ? [] : this.#commits(this.#commit, tip);
    const own = this.#commits(tip, this.#commit);
    if (theirs === null || own === null) return unknown('unreadable', trial);
    const looked = theirs.slice(0, this.#most).flatMap(({ commit, isMerge }) => (isMerge ? [] : [commit]));
    const single = own.slice(0, this.#most).flatMap(({ commit, isMerge }) => (isMerge ? [] : [commit]));
    // A branch of one commit is that commit's change. With nothing to compare it to, no change is needed.
    const isSingle = own.length === 1 && single.length === 1;
    const whole = isSingle || looked.length === 0 ? tip : this.#whole(tip, base);
    if (whole === null) return unknown('unreadable', trial);
    const candidates = this.#changes.read([...new Set([whole, ...looked, ...single])])
      ? this.#changes.candidates([whole, ...single], looked)
      : null;
    const [squash, ...picks] = candidates ?? [];
    if (squash === undefined) return unknown('unreadable', trial);
    const commit = squash.again ?? this.#mergeOf(tip, squash.sameLines);
    if (commit !== null) return { ...yes('squashed', trial), commit };
    const isPicked = (one: string, at: number) => this.#changes.isEmpty(one) || (picks[at]?.again ?? null) !== null;
    const picked = { count: single.filter(isPicked).length, of: own.length };
    if (own.length > this.#most) return unknown('too_far', trial);
    if (picked.count === picked.of) return { ...yes('picked', trial), picked };
    if (theirs.length > this.#most) return { ...unknown('too_far', trial), picked };
    const open = trial.now === 'conflicts' ? 'conflicting' : 'not_merged';
    return { ...PLAIN, ...trial, merged: 'no', why: picked.count > 0 ? 'partly_picked' : open, picked };
  }

  /** @returns a commit with the whole change of a branch, in the objects of the trial */
  #whole(tip: string, base: string): string | null {
    return this.#ask('commit-tree', '-p', base, '-m', 'the whole change', `${tip}^{tree}`)?.trim() ?? null;
  }

  /** The neighbours of the lines had changed before the squash. At another place, the same lines would be another change. */
  #mergeOf(tip: string, commits: readonly string[]): string | null {
    const isMergeOf = (commit: string) => {
      const [before, tree] = this.#ask('rev-parse', `${commit}^`, `${commit}^{tree}`)?.split('\n') ?? [];
      if (before === undefined || tree === undefined) return false;
      const trial = this.#merge(before, tip, tree);
      return typeof trial !== 'string' && trial.now === 'nothing';
    };
    return commits.slice(0, MOST_MERGES).find(isMergeOf) ?? null;
  }

  /** @param tree what comes out if there is nothing to merge */
  #merge(into: string, tip: string, tree: string): Trial | Why {
    const { code, out } = this.#repository.attempt([...MERGE_TREE, into, tip]);
    const [merged, ...conflicts] = out.split('\0').filter((word) => word !== '');
    if (code === CONFLICTS && merged !== undefined) return { now: 'conflicts', conflicts };
    if (code !== 0) return code === BAD_USAGE ? 'old_git' : 'unreadable';
    if (into === this.#commit && merged !== undefined) this.#trees.set(tip, merged);
    return { now: merged === tree ? 'nothing' : 'changes', conflicts: [] };
  }

  /** @returns the commits of one that another does not have, the newest first: one more than are looked at, at the most */
  #commits(of: string, without: string): { readonly commit: string; readonly isMerge: boolean }[] | null {
    const listed = this.#ask('rev-list', '--parents', `--max-count=${this.#most + 1}`, of, `^${without}`);
    const lines = listed?.split('\n').filter((line) => line !== '');
    return (
      lines?.map((line) => {
        const [commit = '', ...parents] = line.split(' ');
        return { commit, isMerge: parents.length > 1 };
      }) ?? null
    );
  }

  #isShallow(): boolean {
    return this.#ask('rev-parse', '--is-shallow-repository')?.trim() === 'true';
  }

  #ask(...args: string[]): string | null {
    const { code, out } = this.#repository.attempt(args);
    return code === 0 ? out : null;
  }
}

function yes(why: Why, trial: Trial): Answer {
  return { ...PLAIN, ...trial, merged: 'yes', why };
}

function unknown(why: Why, trial?: Trial): Answer {
  return { ...PLAIN, now: null, ...trial, merged: 'unknown', why };
}
