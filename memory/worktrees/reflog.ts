/** Commits that only the logs and refs of a worktree and its branch know: those before an amendment, a reset or a rebase. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFileSync } from '../../src/files/plainFile.js';
import { isCommit } from '../git/checkout.js';
import type { Repository, WorktreePlace } from '../git/repository.js';
import { kindsOf, type OwnRef } from './own.js';
import { textOf } from './place.js';
import { loggedInTable, specialRefs } from './table.js';

const LARGEST_BYTES = 64 * 1024 * 1024;
/** `ORIG_HEAD`, `FETCH_HEAD`, `MERGE_AUTOSTASH` and their like: each line begins with a name of an object. */
const SPECIAL = /^[A-Z][A-Z_]*$/;
/** The refs of removed worktrees are left out, because they go after a time. */
const LASTING = ['--exclude=refs/watchkeeper/*', '--all'];

interface Logged extends WorktreePlace {
  /** The commit that is checked out; null before the first one. */
  readonly head: string | null;
  /** The branch that goes, too; null if none does. */
  readonly branch: string | null;
}

/** Objects that only refs of the worktree reach. */
export interface Forgotten {
  /** The newest first, without the ancestors of each. */
  readonly commits: readonly string[];
  /** Tags, and what else is no commit. */
  readonly others: readonly string[];
}

/** @returns null if git cannot say, or a log cannot be read */
export function forgottenIn(repository: Repository, place: Logged, refs: readonly OwnRef[]): Forgotten | null {
  const { folder, branch, head } = place;
  const ofBranch = branch === null ? [] : [join(repository.common, 'logs/refs/heads', branch)];
  const logs = wordsIn([...filesBelow(join(folder, 'logs')), ...ofBranch, ...specialIn(folder)]);
  const inTable = loggedInTable(repository, folder, branch);
  if (logs === null || inTable === null) return null;
  const special = specialRefs(repository, folder);
  if (special === null) return null;
  const words = [...new Set([...logs, ...inTable, ...special.values(), ...refs.map(({ object }) => object)])];
  const named = kindsOf(
    repository,
    words.filter((word) => isCommit(word) && !/^0+$/.test(word)),
  );
  if (named === null) return null;
  const lasting = ['--not', ...LASTING, ...(head === null ? [] : [head])];
  const are = (isOne: boolean) =>
    [...named].flatMap(([object, kind]) => (isOne === (kind === 'commit') ? [object] : []));
  const commits = unreached(repository, are(true), ['--parents', '--stdin', ...lasting]);
  const rest = are(false);
  const others = unreached(repository, rest, ['--objects', '--stdin', ...lasting]);
  if (commits === null || others === null) return null;
  const parents = new Set(commits.flatMap(([, ...above]) => above));
  return {
    commits: commits.flatMap(([commit = '']) => (parents.has(commit) ? [] : [commit])),
    others: others.flatMap(([object = '']) => (rest.includes(object) ? [object] : [])),
  };
}

/** @returns the words of each line that git prints; null if it cannot say */
function unreached({ attempt }: Repository, objects: readonly string[], words: readonly string[]): string[][] | null {
  if (objects.length === 0) return [];
  const { code, out } = attempt(['rev-list', '--ignore-missing', ...words], { input: `${objects.join('\n')}\n` });
  if (code !== 0) return null;
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '));
}

/**
 * @param folder git's folder for a worktree
 * @returns whether one commit alone has been checked out there, that of its making. False also without a log in a file
 */
export function isUntouched(folder: string): boolean {
  const log = textOf(join(folder, 'logs/HEAD'));
  return log !== null && new Set(log.split('\n').map((line) => line.split(' ')[1])).size === 1;
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [] : [join(entry.parentPath, entry.name)]));
}

function specialIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => (SPECIAL.test(name) && name !== 'HEAD' ? [join(folder, name)] : []));
}

/** @returns the first two words of each line, the last line first; null if a file is there and cannot be read */
function wordsIn(files: readonly string[]): string[] | null {
  try {
    return files
      .filter((file) => existsSync(file))
      .flatMap((file) => {
        const lines = readPlainFileSync(file, LARGEST_BYTES).split('\n');
        return lines.flatMap((line) => line.split(/[ \t]/, 2)).reverse();
      });
  } catch {
    return null;
  }
}
