/** Commits that only the logs of a worktree and its branch know: those before an amendment, a reset or a rebase. */
import { join } from 'node:path';
import { readPlainFileSync } from '../../src/files/plainFile.js';
import { isCommit } from '../git/checkout.js';
import type { Repository, WorktreePlace } from '../git/repository.js';
import { textOf } from './place.js';

const LARGEST_BYTES = 16 * 1024 * 1024;
/** So many parents can one commit have without a command line that is too long. */
const MOST = 2_000;
/** The refs of removed worktrees are left out, because they go after a time. */
const LASTING = ['--exclude=refs/watchkeeper/*', '--all'];
/** Refs that each worktree has for itself. */
const OWN_REFS = ['refs/worktree/', 'refs/bisect/', 'refs/rewritten/'];

interface Logged extends WorktreePlace {
  /** The branch that goes, too; null if none does. */
  readonly branch: string | null;
}

/** @returns commits that no ref reaches, the newest first, without the ancestors of each; null if git cannot say */
export function forgottenCommits({ askIn, attempt, common }: Repository, place: Logged): string[] | null {
  const { folder, branch } = place;
  const logs = [join(folder, 'logs/HEAD'), ...(branch === null ? [] : [join(common, 'logs/refs/heads', branch)])];
  const refs = askIn(place, ['for-each-ref', '--format=%(objectname)', ...OWN_REFS]);
  if (refs === null) return null;
  const words = [...logs.flatMap(commitsIn), ...refs.split('\n'), textOf(join(folder, 'ORIG_HEAD')) ?? ''];
  const named = [...new Set(words)].filter((word) => isCommit(word) && !/^0+$/.test(word));
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
  return found.flatMap(([commit = '']) => (parents.has(commit) ? [] : [commit])).filter((_, at) => at < MOST);
}

/** Git has removed some long ago, and a log names them still. */
function present(attempt: Repository['attempt'], named: readonly string[]): string[] {
  const { out } = attempt(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    input: `${named.join('\n')}\n`,
  });
  return out.split('\n').flatMap((line) => (line.endsWith(' commit') ? [line.slice(0, line.indexOf(' '))] : []));
}

function commitsIn(log: string): string[] {
  try {
    const lines = readPlainFileSync(log, LARGEST_BYTES).split('\n');
    return lines.flatMap((line) => line.split(' ', 2)).reverse();
  } catch {
    return [];
  }
}
