/**
 * Where a session's folder belongs: its worklog decides. The process that writes "archived", or takes it back, moves the folder, and
 * copies the documents into it before. If it was killed in between, the next process that opens the session does so. Several may do so
 * at once.
 */
import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode, UnreachableError } from '../../src/errors.js';
import { failpoint } from '../../src/failpoints.js';
import { syncFolderSync } from '../../src/files/durableFile.js';
import { makePrivateFolderSync } from '../../src/files/privateFiles.js';
import { describeStorageFault } from '../../src/files/storageFault.js';
import { isoTime } from '../../src/time.js';
import type { SessionLog } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import type { Places } from '../home/places.js';
import { takeAlong } from './takeAlong.js';

const GONE = 'ENOENT';
/** A folder that is not empty is in the place. An empty one is replaced, which loses nothing. */
const TAKEN = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR'];
/** Other processes may take the session out of the archive, or back, at the same time. */
const MOST_MOVES = 16;

interface Placed {
  readonly id: string;
  readonly log: SessionLog;
}

/** @returns the folder where a session of this state belongs */
export function placeOf(id: string, { archived }: Worklog, places: Places): string {
  return archived === null
    ? places.sessionFolder(id)
    : places.archived(isoTime(archived.at).slice(0, '2026'.length), id);
}

/**
 * Moves a session's folder to where it belongs, with one rename. Nothing is overwritten.
 * @returns the folder; null if something else is in its place, so that it stays where it is
 * @throws UnreachableError if it cannot be moved
 */
export function moveToPlace({ id, log }: Placed, places: Places): string | null {
  for (let count = 0; count < MOST_MOVES; count += 1) {
    const found = places.foldersOf(id);
    const place = placeOf(id, log.state, places);
    const from = found.find((folder) => folder !== place);
    const isThere = found.includes(place);
    if (isThere && from === undefined) return place;
    // Seen in both places, it was moved between two looks, or something else is really there.
    if (!isThere && from !== undefined && hasAll({ id, log }, from, places)) move(from, place);
    log.refresh();
  }
  return null;
}

/** Without what it could not take along, an archived session is still in the archive: a fault must not hide its record. */
function hasAll({ id, log }: Placed, folder: string, places: Places): boolean {
  return log.state.archived === null || takeAlong({ id, log }, folder, places) !== null;
}

/** If the folder is gone, or the place taken, another process has moved it: the next look shows where to. */
function move(from: string, to: string): void {
  try {
    makePrivateFolderSync(dirname(to));
    failpoint('archive.folder.before');
    renameSync(from, to);
    failpoint('archive.folder.after');
    for (const folder of [dirname(to), dirname(from), dirname(dirname(to))]) syncFolderSync(folder);
  } catch (error) {
    if ([GONE, ...TAKEN].includes(errorCode(error))) return;
    throw new UnreachableError(`${from} cannot be moved to ${to}: ${describeStorageFault(error)}`, { cause: error });
  }
}
