/** The changes in a session's workspace since the last scan. */
import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { errorCode, UnreachableError, UsageError } from '../../src/errors.js';
import { readOwnFileSync } from '../../src/files/ownFile.js';
import { sightOfEntry } from '../../src/files/seenFile.js';
import { describeStorageFault } from '../../src/files/storageFault.js';
import type { Redact } from '../../src/log/redact.js';
import type { Clock } from '../../src/time.js';
import { Git } from '../git/git.js';
import type { Places } from '../home/places.js';
import { type Changes, changesBetween, readScan, type Scan, scanWorkspace } from './changes.js';
import { realOf } from './workspace.js';

/** How the names of secrets begin. */
const REDACTED = '[redacted:';
/** In the session's folder. */
export const SCAN_FILE = 'scan.json';
/** Its paths have at most a quarter of that. */
const LARGEST_SCAN_BYTES = 32 * 1024 * 1024;

export interface SinceScan {
  /** UTC epoch milliseconds. Null if it was never scanned. */
  readonly since: number | null;
  /** Null without an earlier scan. */
  readonly changes: Changes | null;
  /** Whether both scans have every file. False also if git does not answer. */
  readonly complete: boolean;
  /** Git did not answer, so new files are unknown. */
  readonly is_unanswered: boolean;
  /** How many files of the earlier scan cannot be looked at now, so that nothing is known of them. */
  readonly unseen: number;
  readonly scan: Scan;
}

/** The parts of a memory that a scan needs. */
export interface Scanner {
  readonly places: Pick<Places, 'root'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly stamp: { readonly redact: Redact };
  readonly surroundings: { readonly variables: NodeJS.ProcessEnv };
}

/**
 * Scans, and writes nothing.
 * @param root of the session's workspace, wherever the caller is: its scans are compared with each other
 * @param before the last scan. Null if there is none
 */
export function sinceScan(
  { places, clock, stamp, surroundings }: Scanner,
  root: string,
  before: Scan | null,
): SinceScan {
  const listed = new Git(root, surroundings.variables).files();
  // A list of all files would include those that git ignores.
  const is_unanswered = listed === null && before !== null && before.by_git !== false && existsSync(join(root, '.git'));
  const isOwn = ownFilesIn(root, places);
  const paths = is_unanswered ? Object.keys(before.entries) : listed;
  const seen = scanWorkspace(root, { listed: paths, isOwn }, stamp.redact, clock.now());
  const { complete } = seen;
  if (before === null) return { since: null, changes: null, complete, is_unanswered, unseen: 0, scan: seen };
  // A file whose name holds a secret cannot be found by the name that is stored.
  const isHidden = (path: string) => is_unanswered && path.includes(REDACTED);
  const sights = new Map(
    Object.keys(before.entries)
      .filter((path) => seen.entries[path] === undefined)
      .map((path) => [path, isHidden(path) ? 'unknown' : sightOfEntry(join(root, path))]),
  );
  const unseen = Object.entries(before.entries).filter(([path]) => sights.get(path) === 'unknown');
  const scan = { ...seen, entries: withUnseen(seen.entries, unseen) };
  const changes = changesBetween(before, scan, (path) => sights.get(path) !== 'none');
  const compared = { since: before.at, changes, complete: before.complete && complete && !is_unanswered };
  return { ...compared, is_unanswered, unseen: unseen.length, scan };
}

/** @returns the entries with those of the earlier scan that cannot be looked at now: else the next scan would call them new */
function withUnseen(entries: Scan['entries'], unseen: readonly [string, readonly [number, number]][]): Scan['entries'] {
  // Without a prototype: a file may be called `__proto__`.
  return Object.assign(Object.create(null), entries, Object.fromEntries(unseen));
}

/** @returns whether a path, relative to the workspace, is one of the memory's own files, whose changes are no work */
export function ownFilesIn(root: string, places: Pick<Places, 'root'>): (path: string) => boolean {
  const place = relative(root, realOf(places.root));
  if (place === '' || place.startsWith('..')) return () => false;
  return (path) => path === place || path.startsWith(`${place}${sep}`);
}

/**
 * @param folder of the session
 * @returns null if there is none, or it is damaged: the next scan replaces it
 * @throws UsageError if it is of a newer version
 */
export function lastScan(folder: string): Scan | null {
  const path = join(folder, SCAN_FILE);
  let text: string;
  try {
    text = readOwnFileSync(path, LARGEST_SCAN_BYTES);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    if (error instanceof UnreachableError) throw error;
    throw new UnreachableError(`${path} cannot be read: ${describeStorageFault(error)}`, { cause: error });
  }
  const found = readScan(text);
  if (found === 'newer') throw new UsageError(`${path} is of a newer version of Watchkeeper; update this one to scan`);
  return found;
}
