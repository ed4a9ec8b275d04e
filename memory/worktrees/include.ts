/** The ignored files that a new worktree gets from the main checkout, as its `.worktreeinclude` names them. */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describeError } from '../../src/errors.js';
import { READ_NO_LINK, readPlainFileSync } from '../../src/files/plainFile.js';
import { isInside } from '../git/outside.js';
import type { Repository, WorktreePlace } from '../git/repository.js';
import { realOf } from '../workspaces/workspace.js';

const NAME = '.worktreeinclude';
const LARGEST_BYTES = 64 * 1024;
const MIB = 1024 * 1024;
const MOST_MIB = 512;
const PART_BYTES = 64 * 1024;
/** A pattern is relative to the checkout: one that leads out of it, or names all of it, is a mistake. */
const OUTSIDE = /(^|\/)\.\.(\/|$)|^\/+$/;
const LISTED = ['ls-files', '-z', '--others', '--ignored'];

export interface Included {
  /** Relative to the top level. */
  readonly files: readonly string[];
  /** Why it cannot be obeyed; empty if it can. */
  readonly faults: readonly string[];
}

/** @param main the main checkout */
export function includedFiles(repository: Repository, main: WorktreePlace): Included {
  const path = join(main.root, NAME);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { files: [], faults: [] };
  const patterns = patternsIn(path);
  if (typeof patterns === 'string') return { files: [], faults: [patterns] };
  const outside = patterns.filter((pattern) => OUTSIDE.test(pattern));
  if (outside.length > 0)
    return {
      files: [],
      faults: outside.map((pattern) => `${NAME} names ${pattern}, which is not inside ${main.root}`),
    };
  const ignored = ignoredIn(repository, main);
  const files = ignored === null ? null : namedFiles(repository, main, patterns, ignored);
  if (files === null) return { files: [], faults: [`git does not say which files of ${main.root} it names`] };
  return { files, faults: faultsOf(main.root, files) };
}

/**
 * @param main the main checkout, whose `.worktreeinclude` counts
 * @param other a worktree, with the files that are ignored there
 * @returns the files that it names in another worktree and that are not the same in the main checkout; they would be lost with it.
 *   None if the file of patterns cannot be read: then it has named nothing. Null if git cannot say
 */
export function differingFiles(
  repository: Repository,
  main: WorktreePlace,
  other: WorktreePlace & { readonly ignored: readonly string[] },
): string[] | null {
  const path = join(main.root, NAME);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return [];
  const patterns = patternsIn(path);
  if (typeof patterns === 'string') return [];
  const files = namedFiles(repository, other, patterns, other.ignored);
  return files?.filter((file) => !isSameFile(join(main.root, file), join(other.root, file))) ?? null;
}

/** @returns the ignored files of a worktree, a repository in it with a slash; null if git cannot list them */
export function ignoredIn({ askIn }: Repository, place: WorktreePlace): string[] | null {
  return listed(askIn(place, [...LISTED, '--exclude-standard']));
}

function namedFiles(
  { askIn }: Repository,
  place: WorktreePlace,
  patterns: readonly string[],
  ignored: readonly string[],
): string[] | null {
  if (ignored.length === 0) return [];
  const named = listed(askIn(place, [...LISTED, ...patterns.map((pattern) => `--exclude=${pattern}`)]));
  const known = new Set(ignored);
  return named?.filter((file) => known.has(file)) ?? null;
}

/** Two links to the same path are the same. A large file is compared by its parts. */
function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => lstatSync(path, { throwIfNoEntry: false }));
  if (first === undefined || second === undefined) return false;
  if (first.isSymbolicLink() && second.isSymbolicLink()) return readlinkSync(one) === readlinkSync(other);
  if (!first.isFile() || !second.isFile() || first.size !== second.size) return false;
  const [left, right] = [openSync(one, READ_NO_LINK), openSync(other, READ_NO_LINK)];
  try {
    const [a, b] = [Buffer.alloc(PART_BYTES), Buffer.alloc(PART_BYTES)];
    for (;;) {
      const [count, same] = [readSync(left, a), readSync(right, b)];
      if (count !== same || !a.subarray(0, count).equals(b.subarray(0, count))) return false;
      if (count === 0) return true;
    }
  } finally {
    closeSync(left);
    closeSync(right);
  }
}

function patternsIn(path: string): string[] | string {
  try {
    if (lstatSync(path).isSymbolicLink()) return `${path} is a link, and links are not followed`;
    const lines = readPlainFileSync(path, LARGEST_BYTES, { flags: READ_NO_LINK }).split(/\r?\n/);
    return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
  } catch (error) {
    return `${path} cannot be read: ${describeError(error)}`;
  }
}

function listed(printed: string | null): string[] | null {
  return printed?.split('\0').filter((file) => file !== '') ?? null;
}

function faultsOf(root: string, files: readonly string[]): string[] {
  const links = files.filter((file) => lstatSync(join(root, file), { throwIfNoEntry: false })?.isSymbolicLink());
  const bytes = files.reduce(
    (sum, file) => sum + (statSync(join(root, file), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  return [
    ...links.map((file) => `${NAME} names ${file}, which is a link: name the file behind it`),
    ...(bytes > MOST_MIB * MIB
      ? [`${NAME} names ${Math.round(bytes / MIB)} MiB, more than ${MOST_MIB}: name less, and copy the rest yourself`]
      : []),
  ];
}

/**
 * Copies files with their modes. Nothing is replaced, and nothing outside the new worktree is written, whatever links it has.
 * @returns what was not copied, in words
 */
export function copyIncluded(files: readonly string[], from: string, to: string): string[] {
  return files.flatMap((file) => {
    const [source, target] = [join(from, file), join(to, file)];
    try {
      if (existsSync(target)) return [`${file} is there already`];
      if (!isInside(realOf(dirname(target)), realOf(to))) return [`${file} is behind a link of the new worktree`];
      if (!lstatSync(source).isFile() || !isInside(realOf(source), realOf(from))) return [`${file} is no plain file`];
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(source, target, constants.COPYFILE_EXCL);
      return [];
    } catch (error) {
      return [`${file}: ${describeError(error)}`];
    }
  });
}
