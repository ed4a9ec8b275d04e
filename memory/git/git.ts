/** Asks git about a directory, without changing it. Every call has a time limit, and none takes a lock. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isoTime, SECOND } from '../../src/time.js';
import { commitNamed, isAncestor } from './ancestry.js';
import { type Checkout, checkoutOf, gitFoldersOf, isCommit } from './checkout.js';
import type { GitVariables } from './gitLine.js';
import { type Asking, type Print, type Repository, withRepository } from './repository.js';
import { changesIn, diffOf, digestOf, filesOf, isPrinted } from './uncommitted.js';
import { keptAfter, versionsElsewhere } from './versions.js';

const FILES: Asking = { about: 'files', preparingMs: 5 * SECOND, askingMs: 10 * SECOND };
const COMMITS: Asking = { ...FILES, about: 'commits' };
/** For calls at an agent's start, which may take two seconds in all. */
const COMMITS_AT_START: Asking = { about: 'commits', preparingMs: SECOND / 4, askingMs: SECOND };
/** How `git symbolic-ref` exits if no branch is checked out. */
const NONE = 1;
const MOST_COMMITS = 200;

export interface GitState {
  /** The commit; null before the first one. */
  readonly head: string | null;
  /** Null if none is checked out. */
  readonly branch: string | null;
  /** A digest of the uncommitted changes; null if there are none, or git cannot compare them with the commit. */
  readonly dirty_digest: string | null;
  /** Changed and untracked files, relative to the top level. */
  readonly dirty: readonly string[];
  /** Those of them whose contents are not in the digest: untracked and hidden files; all if git cannot compare them with a commit. */
  readonly undigested: readonly string[];
}

/** Uncommitted changes at an earlier time. */
export interface DirtThen extends Pick<GitState, 'dirty_digest'> {
  /** How many files had some. */
  readonly dirty: number;
}

export interface DirtNow {
  /** How many files have uncommitted changes. */
  readonly dirty: number;
  /** Whether they are the same as then. */
  readonly is_same: boolean;
}

/** Filters of a configuration are not run: see `docs/internals/git.md`. */
export class Git {
  readonly #root: string;
  readonly #variables: GitVariables;
  #refusal: string | null = null;

  /** @param root the top level of a worktree */
  constructor(root: string, { PATH, HOME }: GitVariables) {
    this.#root = root;
    this.#variables = { PATH, HOME };
  }

  /** Git's words, if it refused the last question; null if there are none. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /**
   * @param print of the digest: `configured` is how the user prefers to see differences. Older versions took that, and counted
   *   other worktrees of the repository that are below this one
   * @returns null if the directory is no worktree; `unanswered` if it is one, and git is not installed, refuses the owner of its files,
   *   fails or takes too long
   */
  state(print: Print = 'plain'): GitState | 'unanswered' | null {
    const state = this.#within(FILES, (repository) => {
      if (repository.isBare) return 'bare';
      const changes = changesIn(repository, this.#root, print);
      if (changes === null) return null;
      const diff = diffOf(repository, changes, print);
      if (diff === null) return null;
      const checkout = this.#checkout(repository);
      if (checkout === null) return null;
      return {
        ...checkout,
        dirty_digest: digestOf(changes, diff, checkout),
        dirty: filesOf(changes),
        undigested: filesOf(changes.filter((entry) => diff.text === null || !isPrinted(entry))),
      };
    });
    if (state === 'bare') return null;
    return state ?? (existsSync(join(this.#root, '.git')) ? 'unanswered' : null);
  }

  /**
   * Compares the uncommitted changes with those of an earlier state. Git prints the differences only if as many files have changes.
   * @returns how many files have some now; null if git does not say
   */
  dirtSince(then: DirtThen): DirtNow | null {
    return this.#within(FILES, (repository) => {
      const changes = changesIn(repository, this.#root, 'plain');
      if (changes === null) return null;
      const dirty = filesOf(changes).length;
      if (dirty !== then.dirty) return { dirty, is_same: false };
      const diff = diffOf(repository, changes, 'plain');
      if (diff === null) return null;
      const checkout = this.#checkout(repository);
      const digest = checkout === null ? null : digestOf(changes, diff, checkout);
      const isKnown = dirty === 0 || (digest !== null && then.dirty_digest !== null);
      return isKnown ? { dirty, is_same: digest === then.dirty_digest } : null;
    });
  }

  /** @returns how many commits there are since `since`, `elsewhere` if that is not among the present ones; null if git does not say */
  commitsSince(since: string): number | 'elsewhere' | null {
    // It comes from a log, and a word that begins with a dash would be an option.
    if (!isCommit(since)) return 'elsewhere';
    return this.#within(COMMITS, (repository) => {
      const isThere = isAncestor(repository, since, 'HEAD');
      if (isThere === null) return null;
      return isThere ? countOf(repository.ask(['rev-list', '--count', `${since}..HEAD`])) : 'elsewhere';
    });
  }

  /**
   * @param since a commit
   * @param most how many
   * @returns the first lines of the messages of the commits that came to it, the oldest first, without merges; null if git does not say
   */
  subjectsSince(since: string, most: number): string[] | null {
    if (!isCommit(since)) return null;
    return this.#within(COMMITS, ({ ask }) => {
      const log = ask(['log', '--no-merges', `--max-count=${most}`, '--format=%s', `${since}..HEAD`]);
      return log?.split('\n').filter(Boolean).reverse() ?? null;
    });
  }

  /**
   * @param at UTC epoch milliseconds
   * @returns how many commits were made afterwards; null if git does not say within a second
   */
  commitsAfter(at: number): number | null {
    const since = `--since=${isoTime(at)}`;
    return this.#within(COMMITS_AT_START, ({ ask }) => countOf(ask(['rev-list', '--count', since, 'HEAD'])));
  }

  /**
   * @param at UTC epoch milliseconds
   * @returns files of the last {@link MOST_COMMITS} commits that were made afterwards, relative to the top level; null as {@link commitsAfter}
   */
  committedAfter(at: number): string[] | null {
    if (!mayHaveMoved(this.#root, at)) return [];
    // Commits know whole seconds.
    const since = `--since=@${Math.ceil(at / SECOND)}`;
    const names = ['--format=', '--name-only', '-z', '--no-renames', `--max-count=${MOST_COMMITS}`];
    return this.#within(COMMITS_AT_START, ({ ask }) => {
      const printed = ask(['log', since, ...names, 'HEAD']);
      return printed === null ? null : [...new Set(printed.split('\0').filter((path) => path !== ''))];
    });
  }

  /**
   * @param paths relative to the top level
   * @param at UTC epoch milliseconds
   * @returns by path, the place of a version that was stored afterwards, and is not in the present commit: `stash@{0}`, `branch NAME` or
   *   `HEAD@{1}`; null if that is not known
   */
  versionsElsewhere(paths: readonly string[], at: number): ReadonlyMap<string, string> | null {
    const kept = keptAfter(gitFoldersOf(this.#root), at);
    if (kept === null || kept.length === 0) return kept === null ? null : new Map();
    return this.#within(COMMITS_AT_START, (repository) => versionsElsewhere(repository, paths, at, kept));
  }

  /** @returns the files that git tracks or could add, relative to the directory, also deleted ones; null if git does not say */
  files(): string[] | null {
    return this.#within(FILES, ({ isBare, ask }) => {
      const listed = isBare ? null : ask(['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
      return listed === null ? null : [...new Set(listed.split('\0').filter((path) => path !== ''))];
    });
  }

  /** @returns what is checked out; null if the directory is no worktree, or git does not say */
  checkout(): Checkout | null {
    return this.#within(COMMITS, (repository) => this.#checkout(repository));
  }

  /** Most repositories show it in two files, which saves two processes. */
  #checkout(repository: Repository): Checkout | null {
    const shown = checkoutOf(this.#root);
    if (shown !== null && shown.head !== null) return shown;
    const head = commitNamed(repository, 'HEAD');
    const branch = shown === null ? branchNamed(repository) : shown.branch;
    return head === 'unanswered' || branch === undefined ? null : { head, branch };
  }

  #within<Answer>(asking: Asking, question: (repository: Repository) => Answer | null): Answer | null {
    this.#refusal = null;
    return withRepository(this.#root, this.#variables, asking, (repository) => {
      const answer = question(repository);
      this.#refusal = repository.refusal;
      return answer;
    });
  }
}

/** Each commit enters the log of the branch that is checked out. Without that log, only git knows. */
function mayHaveMoved(root: string, at: number): boolean {
  const log = statSync(join(gitFoldersOf(root).folder, 'logs', 'HEAD'), { throwIfNoEntry: false });
  return log === undefined || log.mtimeMs > at;
}

/** @returns null if none is checked out; undefined if git does not say */
function branchNamed({ askEnd }: Repository): string | null | undefined {
  const { code, out } = askEnd(['symbolic-ref', '--short', '-q', 'HEAD']);
  if (code === 0) return out.trim();
  return code === NONE ? null : undefined;
}

function countOf(printed: string | null): number | null {
  return printed === null ? null : Number(printed);
}
