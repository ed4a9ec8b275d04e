/**
 * The contents of a worktree that no branch has, as commits. Only objects are written here, and they change nothing until a ref names
 * them.
 *
 * The first commit has the files as they are on the disk, also new ones, byte for byte, but no ignored ones. Its parents are the commit
 * that was checked out, one with the index, and, if there is a need for it, one that holds the sides of unresolved conflicts and the
 * worktree's own settings, refs and marks of files, and has those commits as its parents that only a log or ref of the worktree, or a log
 * of its branch, knows.
 */
import { dirname } from 'node:path';
import { withRefusal } from '../git/refusal.js';
import type { Repository, WorktreePlace } from '../git/repository.js';
import { stateOf, type WorktreeState } from './dirt.js';
import { entryAt } from './entry.js';
import { isSparse, type OwnFile, ownFiles, ownRefs } from './own.js';
import { type Forgotten, forgottenIn } from './reflog.js';
import { pathOf, type Staged, stagedIn } from './staged.js';

const OBJECT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** In the third parent: the input of `git update-index -z --index-info` that brings the conflicts back. */
export const CONFLICTS_FILE = 'index-info';
/** Git writes a file with the mode that is kept, also where it is told not to look at modes. */
const WITH_MODES = ['-c', 'core.fileMode=true'];
const SUBMODULE = '160000';
/** So many parents can one commit have without a command line that is too long. */
const MOST_PARENTS = 1_000;
/** Git says so of a name that it never takes, such as `.GIT`, and ends as if all were well. */
const LEFT_OUT = /^Ignoring path /m;
const ENTRY = /^(\d+) ([0-9a-f]+) (\d)\t(.*)$/s;

export interface Contents {
  /** Null before the first commit. */
  readonly head: string | null;
  /** Whether there are uncommitted changes. */
  readonly is_dirty: boolean;
  /** The commit that has all; null if there is nothing besides `head`. */
  readonly commit: string | null;
  readonly has_conflicts: boolean;
  /** Commits and tags that only logs and refs of the worktree name. A commit cannot hold the tags. */
  readonly forgotten: Forgotten;
  readonly own_files: readonly OwnFile['name'][];
  /** Whether files that no pattern names are left out of its folder. */
  readonly is_sparse: boolean;
  /** The files that differ from `head`, as `latin1`; none without a commit that has them. */
  readonly changed: readonly string[];
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
  if (state === null || staged === null) return withRefusal('git cannot list its files', repository);
  const { head, dirt } = state;
  const tracked = [...dirt.tracked, ...staged.hidden];
  const refs = ownRefs(repository, place);
  const forgotten = refs === null ? null : forgottenIn(repository, { ...place, head }, refs);
  if (refs === null || forgotten === null) return withRefusal('git cannot read the logs of its commits', repository);
  // `git add -N` fails without a file.
  const intended = state.intended.filter((path) => isFile(place, path));
  const own = ownFiles(place, refs, { ...staged.flagged, 'intent-to-add': intended });
  if (own === null) return 'its own settings of git cannot be read';
  const is_dirty = tracked.length + dirt.untracked.length > 0;
  const names = own.map(({ name }) => name);
  const found = { head, is_dirty, forgotten, own_files: names };
  if (!is_dirty && forgotten.commits.length + forgotten.others.length + own.length === 0)
    return { ...found, commit: null, has_conflicts: false, is_sparse: false, changed: [] };
  const is_sparse = names.includes('sparse-checkout') && isSparse(repository, place);
  // With patterns, git itself leaves files out again.
  const absent = is_sparse
    ? []
    : Object.values(staged.flagged).flatMap((paths) => paths.filter((path) => !isFile(place, path)));
  try {
    const writing = new Writing(repository, place);
    const { index, files, conflicts } = writing.trees({ ...staged, intended }, [...tracked, ...absent], dirt.untracked);
    const first = head === null ? [] : [head];
    const second = writing.commit(index, first, 'the index');
    const third = writing.rest(conflicts, own, forgotten);
    const commit = writing.commit(files, [...first, second, ...third], `files of ${place.name}`);
    const changed = [...tracked, ...dirt.untracked];
    return { ...found, commit, has_conflicts: conflicts.length > 0, is_sparse, changed };
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

  /** @param entries of the index, as `latin1`, as are all paths @throws NotWritten */
  trees(
    { entries, intended }: Pick<Staged, 'entries'> & Pick<WorktreeState, 'intended'>,
    tracked: readonly string[],
    untracked: readonly string[],
  ) {
    const isSettled = (entry: string) => ENTRY.exec(entry)?.[3] === '0';
    const settled = entries.filter(isSettled);
    const conflicts = entries.filter((entry) => !isSettled(entry));
    this.#keep(['read-tree', '--empty']);
    const notStaged = new Set(intended);
    const staged = settled.filter((entry) => !notStaged.has(pathOf(entry)));
    this.#keep(['update-index', '-z', '--index-info'], inputOf(staged));
    const index = this.#keep(['write-tree', '--missing-ok']);
    const submodules = new Set(
      settled.flatMap((entry) => (entry.startsWith(SUBMODULE) ? [ENTRY.exec(entry)?.[4]] : [])),
    );
    const changed = [...new Set(tracked)].filter((path) => !submodules.has(path));
    const present = new Set(changed.filter((path) => isFile(this.#place, path)));
    const none = '0'.repeat(index.length);
    const gone = changed.filter((path) => !present.has(path)).map((path) => `0 ${none}\t${path}`);
    if (gone.length > 0) this.#keep(['update-index', '-z', '--index-info'], inputOf(gone));
    this.#keep(['update-index', '--add', '--replace', '-z', '--stdin'], inputOf([...present, ...untracked]));
    const files = this.#keep(['write-tree', '--missing-ok']);
    return { index, files, conflicts };
  }

  /** A time that is always the same: contents that are kept twice are one commit. */
  commit(tree: string, parents: readonly string[], words: string): string {
    return this.#store(
      ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])],
      `watchkeeper: ${words}\n`,
    );
  }

  /** @returns the commit that holds all that is neither a file nor staged; none if there is nothing of that kind */
  rest(conflicts: readonly string[], own: readonly OwnFile[], { commits, others }: Forgotten): string[] {
    if (conflicts.length + own.length + commits.length + others.length === 0) return [];
    const files = own.map(({ name, text }) => this.#entry(name, text));
    const tree = this.#store(['mktree', '--missing'], [...this.#sides(conflicts), ...files].join(''));
    // Refs of their own keep the others; their names make it another commit if there are others at the next try.
    const also = others.length === 0 ? '' : `\n\n${others.join('\n')}`;
    return [this.commit(tree, this.#gathered(commits), `conflicts, and commits of the logs${also}`)];
  }

  /** @returns commits that reach all of these, as few as one commit can have as parents */
  #gathered(commits: readonly string[]): readonly string[] {
    if (commits.length <= MOST_PARENTS) return commits;
    const parts = Array.from({ length: Math.ceil(commits.length / MOST_PARENTS) }, (_, part) =>
      commits.slice(part * MOST_PARENTS, (part + 1) * MOST_PARENTS),
    );
    const empty = this.#store(['mktree'], '');
    return this.#gathered(parts.map((part) => this.commit(empty, part, 'commits of the logs')));
  }

  /** The entries of a tree that hold every side of every conflict, and how to bring them back. */
  #sides(conflicts: readonly string[]): string[] {
    if (conflicts.length === 0) return [];
    const parts = conflicts.flatMap((entry) => {
      const [, mode = '', object = '', stage = '', path = ''] = ENTRY.exec(entry) ?? [];
      return object === '' ? [] : [{ mode, object, stage, path }];
    });
    const none = '0'.repeat(parts[0]?.object.length ?? 0);
    const before = [...new Set(parts.map(({ path }) => `0 ${none}\t${path}`))];
    const held = parts.filter(({ mode }) => mode !== SUBMODULE);
    const sides = held.map(({ mode, object, stage }, at) => `${mode} blob ${object}\t${at}-${stage}\n`);
    return [this.#entry(CONFLICTS_FILE, inputOf([...before, ...conflicts])), ...sides];
  }

  #entry(name: string, text: string): string {
    return `100644 blob ${this.#store(['hash-object', '-w', '--stdin'], text)}\t${name}\n`;
  }

  #keep(args: readonly string[], input?: string): string {
    const { code, out, err } = this.#repository.keepFiles(this.#place, [...WITH_MODES, ...args], input);
    if (code !== 0 || LEFT_OUT.test(err)) throw new NotWritten(`git cannot keep its files: ${err.trim()}`);
    return out.trim();
  }

  #store(args: readonly string[], input: string): string {
    const { code, out, err } = this.#repository.store(args, { input, encoding: 'latin1' });
    const object = out.trim();
    if (code !== 0 || !OBJECT.test(object)) throw new NotWritten(`git cannot keep its files: ${err.trim()}`);
    return object;
  }
}

/** A file behind a link that took the place of its folder is gone, whatever is behind the link. */
function isFile({ root }: WorktreePlace, path: string): boolean {
  const at = (part: string) => entryAt(Buffer.concat([Buffer.from(`${root}/`), Buffer.from(part, 'latin1')]));
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder))
    if (at(folder)?.isDirectory() !== true) return false;
  const stat = at(path);
  return stat !== null && (stat.isFile() || stat.isSymbolicLink());
}

function inputOf(entries: readonly string[]): string {
  return entries.map((entry) => `${entry}\0`).join('');
}
