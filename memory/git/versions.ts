/** Versions of files that a repository keeps and does not show: in its stash, and on branches that were left. */
import { constants } from 'node:fs';
import { join } from 'node:path';
import { withFileSync } from '../../src/files/plainFile.js';
import { readFromEnd } from '../../src/files/readAt.js';
import { SECOND } from '../../src/time.js';
import type { GitFolders } from './checkout.js';
import type { Repository } from './repository.js';

/** Of the end of a log of git, which names the newest changes last. */
const MOST_LOG_BYTES = 256 * 1024;
/** Entries of the stash, and branches that were left, that are looked into: the newest. */
const MOST_PLACES = 20;
const MOST_COMMITS = 200;
/** A line of a log of git: the commit before and after, the person, the second, and words. */
const ENTRY = /^(?<before>[0-9a-f]{40,64}) (?<after>[0-9a-f]{40,64}) .*> (?<seconds>\d+) [-+]\d{4}(?:\t(?<words>.*))?$/;
const LEFT = /^checkout: moving from (?<branch>\S+) to /;
/** Stands before each commit that git prints. */
const MARK = '\u0001';

/** A commit that git keeps, and how people call the place. */
export interface KeptCommit {
  readonly commit: string;
  /** `stash@{0}`, the newest of the stash; or `branch NAME`. */
  readonly place: string;
}

/**
 * Git keeps both in files, so no process is started.
 * @param at UTC epoch milliseconds
 * @returns what was put into the stash afterwards, and the branches that were checked out here and left, each the newest first
 */
export function keptAfter({ common, folder }: GitFolders, at: number): KeptCommit[] {
  const since = Math.floor(at / SECOND);
  const isLater = ({ seconds = '' }: Entry) => Number(seconds) >= since;
  const stashed = entriesIn(join(common, 'logs/refs/stash')).map((entry, index) => ({ entry, index }));
  const left = entriesIn(join(folder, 'logs/HEAD')).filter(isLater);
  const branches = left.flatMap(({ before = '', words = '' }) => {
    const branch = LEFT.exec(words)?.groups?.branch;
    return branch === undefined ? [] : [{ commit: before, place: `branch ${branch}` }];
  });
  const kept = [
    ...stashed
      .filter(({ entry }) => isLater(entry))
      .map(({ entry: { after = '' }, index }) => ({ commit: after, place: `stash@{${index}}` }))
      .slice(0, MOST_PLACES),
    ...branches.slice(0, MOST_PLACES),
  ];
  return [...new Map(kept.reverse().map((each) => [each.commit, each])).values()].reverse();
}

type Entry = Readonly<Record<string, string | undefined>>;

/** @returns the newest first; none if there is no such log */
function entriesIn(path: string): Entry[] {
  try {
    const text = withFileSync(path, constants.O_RDONLY, (descriptor) =>
      readFromEnd(descriptor, { first: MOST_LOG_BYTES, most: MOST_LOG_BYTES }, (end) => end.toString('utf8')),
    );
    return (text ?? '')
      .split('\n')
      .map((line) => ENTRY.exec(line)?.groups)
      .filter((entry) => entry !== undefined)
      .reverse();
  } catch {
    return [];
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
