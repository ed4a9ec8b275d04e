/** What changed in a session's workspace since somebody scanned it last. */
import { join, relative, sep } from 'node:path';
import { errorCode } from '../../src/errno.js';
import { UnreachableError, UsageError } from '../../src/errors.js';
import { readOwnFileSync } from '../../src/files/ownFile.js';
import { seenEntry } from '../../src/files/seenFile.js';
import { describeStorageFault } from '../../src/files/storageFault.js';
import { oneLine } from '../../src/log/visibleText.js';
import { Git } from '../git/git.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import {
  type Changed,
  type Changes,
  changesBetween,
  readScan,
  type Scan,
  scanWorkspace,
} from '../workspaces/changes.js';
import { realOf } from '../workspaces/workspace.js';

/** In the session's folder. */
export const SCAN_FILE = 'scan.json';
/** Its paths have at most a quarter of that. */
const LARGEST_SCAN_BYTES = 32 * 1024 * 1024;

export interface SinceScan {
  /** UTC epoch milliseconds; null: nobody has scanned it. */
  readonly since: number | null;
  /** Null without an earlier scan. */
  readonly changes: Changes | null;
  /** Whether both scans have every file. */
  readonly complete: boolean;
  readonly scan: Scan;
}

/**
 * Looks, and writes nothing.
 * @throws UsageError if the last scan is of a newer version
 */
export function sinceScan(memory: Viewer, session: OpenSession, before = lastScan(session)): SinceScan {
  // Of the session, wherever the caller is: its scans are compared with each other.
  const { root } = memory.workspaceOf(session.log.state) ?? memory.workspace;
  const listed = new Git(root, memory.surroundings.variables).files();
  const isOwn = ownFilesIn(root, memory);
  const scan = scanWorkspace(root, { listed, isOwn }, memory.stamp.redact, memory.clock.now());
  if (before === null) return { since: null, changes: null, complete: scan.complete, scan };
  const exists = (path: string) => seenEntry(join(root, path)) !== undefined;
  const changes = changesBetween(before, scan, exists);
  return { since: before.at, changes, complete: before.complete && scan.complete, scan };
}

/** @returns whether a path, relative to the workspace, is one of the memory's own files, whose changes are no work */
export function ownFilesIn(root: string, { places }: Pick<Memory, 'places'>): (path: string) => boolean {
  const place = relative(root, realOf(places.root));
  if (place === '' || place.startsWith('..')) return () => false;
  return (path) => path === place || path.startsWith(`${place}${sep}`);
}

/** @returns null if there is none, or it is damaged: it is made anew */
export function lastScan({ folder }: OpenSession): Scan | null {
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

/** @param most paths of each kind; the rest is counted */
export function changeLines({ created, modified, deleted }: Changes, most = Number.POSITIVE_INFINITY): string[] {
  const lines = (what: string, { count, paths }: Changed): string[] => {
    const shown = paths.slice(0, most);
    const more = count - shown.length;
    return [
      ...shown.map((path) => `  ${what.padEnd('modified'.length)}  ${oneLine(path)}`),
      ...(more > 0 ? [`  … and ${more} more ${what}`] : []),
    ];
  };
  return [...lines('created', created), ...lines('modified', modified), ...lines('deleted', deleted)];
}
