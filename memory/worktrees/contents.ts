/**
 * The contents of a worktree that no branch has, as commits. Only objects are written here, and they change nothing until a ref names
 * them.
 *
 * The first commit has the files as they are on the disk, also new ones, byte for byte, but no ignored ones. Its parents are the commit
 * that was checked out, one with the index, and, if there is a need for it, one that holds the sides of unresolved conflicts and has
 * those commits as its parents that only a log of the worktree or its branch knows.
 */
import { dirname } from 'node:path';
import type { Repository, WorktreePlace } from '../git/repository.js';
import { conversionsOf } from './conversions.js';
import { stateOf } from './dirt.js';
import { entryAt } from './entry.js';
import { forgottenCommits } from './reflog.js';
import { stagedIn } from './staged.js';

const OBJECT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** In the third parent: the input of `git update-index -z --index-info` that brings the conflicts back. */
export const CONFLICTS_FILE = 'index-info';
const SUBMODULE = '160000';
/** So many parents can one commit have without a command line that is too long. */
const MOST_PARENTS = 1_000;
const ENTRY = /^(\d+) ([0-9a-f]+) (\d)\t(.*)$/s;

export interface Contents {
  /** Null before the first commit. */
  readonly head: string | null;
  /** Whether there are uncommitted changes. */
  readonly is_dirty: boolean;
  /** The commit that has all; null if there is nothing besides `head`. */
  readonly commit: string | null;
  readonly has_conflicts: boolean;
  /** Commits that only a log knows: the newest of each line of them. */
  readonly forgotten: readonly string[];
  /** As in {@link Removed}. */
  readonly filters: readonly string[] | null;
}

export interface ContentsOf extends WorktreePlace {
  /** As people call it. */
  readonly name: string;
  /** The branch that goes with the worktree; null if none does. */
  readonly branch: string | null;
}

/**
 * @param roots as of {@link stateOf}
 * @returns a text if something cannot be read or written: why
 */
export function contentsOf(repository: Repository, place: ContentsOf, roots: ReadonlySet<string>): Contents | string {
  const state = stateOf(repository, place, roots, 'latin1');
  const staged = stagedIn(repository, place);
  if (state === null || staged === null) return 'git cannot list its files';
  const { head, dirt } = state;
  const tracked = [...dirt.tracked, ...staged.hidden];
  const forgotten = forgottenCommits(repository, place);
  if (forgotten === null) return 'git cannot read the logs of its commits';
  const is_dirty = tracked.length + dirt.untracked.length > 0;
  if (!is_dirty && forgotten.length === 0)
    return { head, is_dirty, commit: null, has_conflicts: false, forgotten, filters: null };
  try {
    const writing = new Writing(repository, place);
    const { index, files, sides } = writing.trees(tracked, dirt.untracked);
    const first = head === null ? [] : [head];
    const staged = writing.commit(index, first, 'the index');
    const third =
      sides === null && forgotten.length === 0
        ? []
        : [
            writing.commit(
              sides ?? writing.emptyTree(),
              writing.gathered(forgotten),
              'conflicts, and commits of the logs',
            ),
          ];
    const commit = writing.commit(files, [...first, staged, ...third], `files of ${place.name}`);
    const filters = conversionsOf(repository, place, [...tracked, ...dirt.untracked]);
    return { head, is_dirty, commit, has_conflicts: sides !== null, forgotten, filters };
  } catch (error) {
    if (error instanceof NotWritten) return error.message;
    throw error;
  }
}

class NotWritten extends Error {}

class Writing {
  readonly #repository: Repository;
  readonly #place: WorktreePlace;

  constructor(repository: Repository, place: WorktreePlace) {
    this.#repository = repository;
    this.#place = place;
  }

  /** @param tracked and `untracked` as `latin1` @throws NotWritten */
  trees(tracked: readonly string[], untracked: readonly string[]) {
    const listed = this.#repository.askIn(this.#place, ['ls-files', '-s', '-z'], 'latin1');
    if (listed === null) throw new NotWritten('git cannot read its index');
    const entries = listed.split('\0').filter((entry) => entry !== '');
    const isSettled = (entry: string) => ENTRY.exec(entry)?.[3] === '0';
    const settled = entries.filter(isSettled);
    const conflicts = entries.filter((entry) => !isSettled(entry));
    this.#keep(['read-tree', '--empty']);
    this.#keep(['update-index', '-z', '--index-info'], inputOf(settled));
    const index = this.#keep(['write-tree', '--missing-ok']);
    const submodules = new Set(
      settled.flatMap((entry) => (entry.startsWith(SUBMODULE) ? [ENTRY.exec(entry)?.[4]] : [])),
    );
    const changed = [...new Set(tracked)].filter((path) => !submodules.has(path));
    const present = new Set(changed.filter((path) => this.#isFile(path)));
    const none = '0'.repeat(index.length);
    const gone = changed.filter((path) => !present.has(path)).map((path) => `0 ${none}\t${path}`);
    this.#keep(['update-index', '-z', '--index-info'], inputOf(gone));
    this.#keep(['update-index', '--add', '--replace', '-z', '--stdin'], inputOf([...present, ...untracked]));
    const files = this.#keep(['write-tree', '--missing-ok']);
    return { index, files, sides: conflicts.length === 0 ? null : this.#sides(conflicts) };
  }

  /** A time that is always the same: contents that are kept twice are one commit. */
  commit(tree: string, parents: readonly string[], words: string): string {
    return this.#store(
      ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])],
      `watchkeeper: ${words}\n`,
    );
  }

  /** @returns commits that reach all of these, as few as one commit can have as parents */
  gathered(commits: readonly string[]): readonly string[] {
    if (commits.length <= MOST_PARENTS) return commits;
    const parts = Array.from({ length: Math.ceil(commits.length / MOST_PARENTS) }, (_, part) =>
      commits.slice(part * MOST_PARENTS, (part + 1) * MOST_PARENTS),
    );
    return this.gathered(parts.map((part) => this.commit(this.emptyTree(), part, 'commits of the logs')));
  }

  emptyTree(): string {
    return this.#store(['mktree'], '');
  }

  /** A tree that holds every side of every conflict, and how to bring them back. */
  #sides(conflicts: readonly string[]): string {
    const parts = conflicts.flatMap((entry) => {
      const [, mode = '', object = '', stage = '', path = ''] = ENTRY.exec(entry) ?? [];
      return object === '' ? [] : [{ mode, object, stage, path }];
    });
    const none = '0'.repeat(parts[0]?.object.length ?? 0);
    const before = [...new Set(parts.map(({ path }) => `0 ${none}\t${path}`))];
    const file = this.#store(['hash-object', '-w', '--stdin'], inputOf([...before, ...conflicts]));
    const held = parts.filter(({ mode }) => mode !== SUBMODULE);
    const lines = held.map(({ mode, object, stage }, at) => `${mode} blob ${object}\t${at}-${stage}`);
    return this.#store(['mktree', '--missing'], `${[`100644 blob ${file}\t${CONFLICTS_FILE}`, ...lines].join('\n')}\n`);
  }

  /** A file behind a link that took the place of its folder is gone, whatever is behind the link. */
  #isFile(path: string): boolean {
    const { root } = this.#place;
    const at = (part: string) => entryAt(Buffer.concat([Buffer.from(`${root}/`), Buffer.from(part, 'latin1')]));
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder))
      if (at(folder)?.isDirectory() !== true) return false;
    const stat = at(path);
    return stat !== null && (stat.isFile() || stat.isSymbolicLink());
  }

  #keep(args: readonly string[], input?: string): string {
    const { code, out, err } = this.#repository.keepFiles(this.#place, args, input);
    if (code !== 0) throw new NotWritten(`git cannot keep its files: ${err.trim()}`);
    return out.trim();
  }

  #store(args: readonly string[], input: string): string {
    const { code, out, err } = this.#repository.store(args, { input, encoding: 'latin1' });
    const object = out.trim();
    if (code !== 0 || !OBJECT.test(object)) throw new NotWritten(`git cannot keep its files: ${err.trim()}`);
    return object;
  }
}

function inputOf(entries: readonly string[]): string {
  return entries.map((entry) => `${entry}\0`).join('');
}
