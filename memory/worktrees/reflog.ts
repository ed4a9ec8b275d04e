/** Commits that only the logs of a worktree and its branch know: those before an amendment, a reset or a rebase. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFileSync } from '../../src/files/plainFile.js';
import { isCommit } from '../git/checkout.js';
import type { Repository, WorktreePlace } from '../git/repository.js';

const LARGEST_BYTES = 64 * 1024 * 1024;
/** `ORIG_HEAD`, `FETCH_HEAD`, `MERGE_AUTOSTASH` and their like: each line begins with a name of an object. */
const SPECIAL = /^[A-Z][A-Z_]*$/;
/** The refs of removed worktrees are left out, because they go after a time. */
const LASTING = ['--exclude=refs/watchkeeper/*', '--all'];
/** Refs that each worktree has for itself. */
const OWN_REFS = ['refs/worktree/', 'refs/bisect/', 'refs/rewritten/'];

interface Logged extends WorktreePlace {
  /** The branch that goes, too; null if none does. */
  readonly branch: string | null;
}

/** @returns commits that no ref reaches, the newest first, without the ancestors of each; null if git cannot say, or a log cannot be read */
export function forgottenCommits({ askIn, attempt, common }: Repository, place: Logged): string[] | null {
  const { folder, branch } = place;
  const ofBranch = branch === null ? [] : [join(common, 'logs/refs/heads', branch)];
  const refs = askIn(place, ['for-each-ref', '--format=%(objectname)', ...OWN_REFS]);
  const logs = wordsIn([...filesBelow(join(folder, 'logs')), ...ofBranch, ...specialIn(folder)]);
  if (refs === null || logs === null) return null;
  const named = [...new Set([...logs, ...refs.split('\n')])].filter((word) => isCommit(word) && !/^0+$/.test(word));
  if (named.length === 0) return [];
  const head = askIn(place, ['rev-parse', '--verify', '-q', 'HEAD'])?.trim();
  const lines = ['rev-list', '--ignore-missing', '--parents', '--stdin', '--not', ...LASTING, ...(head ? [head] : [])];
  const { code, out } = attempt(lines, { input: `${present(attempt, named).join('\n')}\n` });
  if (code !== 0) return null;
  const found = out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '));
  const parents = new Set(found.flatMap(([, ...above]) => above));
  return found.flatMap(([commit = '']) => (parents.has(commit) ? [] : [commit]));
}

/** Git has removed some long ago, and a log names them still. */
function present(attempt: Repository['attempt'], named: readonly string[]): string[] {
  const { out } = attempt(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    input: `${named.join('\n')}\n`,
  });
  return out.split('\n').flatMap((line) => (line.endsWith(' commit') ? [line.slice(0, line.indexOf(' '))] : []));
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
