/** Versions of files that a repository keeps and does not show: in its stash, and in commits that were left. */
import { constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../src/errors.js';
import { withFileSync } from '../../src/files/plainFile.js';
import { readFromEnd } from '../../src/files/readAt.js';
import { SECOND } from '../../src/time.js';
import { checkoutIn, type GitFolders } from './checkout.js';
import type { Repository } from './repository.js';

/** The end of a log of git that is read. The newest changes are last. */
const MOST_LOG_BYTES = 256 * 1024;
/** Commits that git searches. */
const MOST_PLACES = 100;
const MOST_COMMITS = 200;
/** A line of a log of git: the commit before and after, the person, the second, and words. */
const ENTRY = /^(?<before>[0-9a-f]{40,64}) (?<after>[0-9a-f]{40,64}) .*> (?<seconds>\d+) [-+]\d{4}(?:\t(?<words>.*))?$/;
/** A commit was left: for another branch, or because a branch was set back. */
const LEFT = /^(?:checkout: moving from (?<branch>\S+) to |reset: )/;
/** Stands before each commit that git prints. */
const MARK = '\u0001';

/** A commit that git keeps, and its place in words of git. */
export interface KeptCommit {
  readonly commit: string;
  /** `stash@{0}`, the newest of the stash; `branch NAME`; or `HEAD@{1}`, from which a branch was set back. */
  readonly place: string;
}

/**
 * Git keeps all of it in files, so no process is started.
 * @param at UTC epoch milliseconds
 * @returns commits that were put into the stash or left afterwards, each kind with the newest first; null if the files do not show all
 */
export function keptAfter(folders: GitFolders, at: number): KeptCommit[] | null {
  const { common, folder } = folders;
  // In a table, only git can read them.
  if (existsSync(join(common, 'reftable'))) return null;
  const since = Math.floor(at / SECOND);
  const stash = entriesAfter(join(common, 'logs/refs/stash'), since);
  const heads = entriesAfter(join(folder, 'logs/HEAD'), since);
  if (stash === null || heads === null) return null;
  // A user may have switched that log off. Before the first commit there is none.
  if (heads === 'none' && existsSync(join(folder, 'HEAD')) && checkoutIn(folders)?.head !== null) return null;
  const stashed = listOf(stash).map(({ after = '' }, index) => ({ commit: after, place: `stash@{${index}}` }));
  const left = listOf(heads).flatMap(({ before = '', words = '' }, index) => {
    const found = LEFT.exec(words);
    const branch = found?.groups?.branch;
    return found === null ? [] : [{ commit: before, place: branch ? `branch ${branch}` : `HEAD@{${index + 1}}` }];
  });
  const kept = [...stashed, ...left];
  return kept.length > MOST_PLACES
    ? null
    : [...new Map(kept.reverse().map((one) => [one.commit, one])).values()].reverse();
}

type Entry = Readonly<Record<string, string | undefined>>;

function listOf(entries: readonly Entry[] | 'none'): readonly Entry[] {
  return entries === 'none' ? [] : entries;
}

/**
 * @param since UTC epoch seconds
 * @returns the later entries, the newest first; `none` without such a log; null if it cannot be read, or not far enough
 */
function entriesAfter(path: string, since: number): Entry[] | 'none' | null {
  try {
    const read = (end: Buffer, { isWhole }: { readonly isWhole: boolean }) => ({ text: end.toString('utf8'), isWhole });
    const bytes = { first: MOST_LOG_BYTES, most: MOST_LOG_BYTES };
    const end = withFileSync(path, constants.O_RDONLY, (descriptor) => readFromEnd(descriptor, bytes, read));
    const all = (end?.text ?? '')
      .split('\n')
      .map((line) => ENTRY.exec(line)?.groups)
      .filter((entry) => entry !== undefined)
      .reverse();
    const later = all.filter(({ seconds = '' }) => Number(seconds) >= since);
    return later.length === all.length && end?.isWhole !== true ? null : later;
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'none' : null;
  }
}

/**
 * @param paths relative to the top level
 * @param at UTC epoch milliseconds. A commit that was made before is no news
 * @param kept what may have another version
 * @returns by path, the place of the newest version that is not in the present commit; null if git does not say in time
 */
export function versionsElsewhere(
  { ask }: Repository,
  paths: readonly string[],
  at: number,
  kept: readonly KeptCommit[],
): ReadonlyMap<string, string> | null {
  const limits = [`--since=@${Math.floor(at / SECOND)}`, `--max-count=${MOST_COMMITS}`, '--ignore-missing'];
  // An entry of the stash is a merge: a file is in it if it differs from what was checked out. New files are a commit of their own.
  const shown = ['--full-history', '-c', '--no-renames', '--diff-filter=d', '--name-only', '-z'];
  const tips = [...kept.map(({ commit }) => commit), '--not', 'HEAD'];
  const files = ['--', ...paths.map((path) => `:(literal)${path}`)];
  const printed = ask(['log', '--source', `--format=${MARK}%S`, ...shown, ...limits, ...tips, ...files]);
  if (printed === null) return null;
  const places = new Map(kept.map(({ commit, place }) => [commit, place]));
  const found = new Map<string, string>();
  for (const commit of printed.split(MARK).slice(1)) {
    const [source = '', ...listed] = commit.split('\0').map((word) => word.replace(/^\n/, ''));
    const place = places.get(source);
    for (const path of listed) if (place !== undefined && path !== '' && !found.has(path)) found.set(path, place);
  }
  return found;
}
