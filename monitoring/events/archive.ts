/**
 * Moves the old beginning of `critical_events.jsonl` into `archive/`. A crash after any step is harmless:
 *
 * 1. copy the beginning into a new archived file: whole, synced, then visible under its name
 * 2. copy the rest beside the live file; announce it; copy what was appended meanwhile; sync
 * 3. move the rest into the live file's place
 *
 * Until step 3 the live file is untouched, and readers ignore the copy. An archiving that is repeated after a crash finds the
 * copy of step 1 and cuts exactly there. How concurrent appends lose no line: `liveFile.ts`.
 */
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConflictError, describeError, UnreachableError, UsageError, WatchkeeperError } from '../../src/errors.js';
import type { ArchivingOptions } from './archivingSteps.js';
import { findBeginning } from './beginning.js';
import { openEvents } from './criticalEventTail.js';
import { LiveFile, nullIfAbsent } from './liveFile.js';
import { archiveFolderOf, PREPARED_MARK } from './pieces.js';
import { replaceByRest } from './rest.js';

export interface Archived {
  /** How many events were moved. */
  readonly events: number;
  /** Path of the archived file; null if nothing was moved. */
  readonly path: string | null;
  /** How many events are old enough but kept, because some consumer has not acknowledged them. */
  readonly unacknowledged: number;
}

/** Others may archive at the same time, or cancel this archiving because it took long. */
const MOST_TRIES = 5;

/**
 * @param livePath of `critical_events.jsonl`
 * @throws UsageError if a consumer's cursor does not belong to this log, or the live file is a link
 * @throws UnreachableError if a file cannot be written: nothing is lost then
 */
export async function archiveEvents(livePath: string, options: ArchivingOptions): Promise<Archived> {
  const live = new LiveFile(livePath);
  try {
    await requirePlainFile(livePath);
    await live.clear();
    await clearArchiveFolder(livePath);
    for (let tries = 1; ; tries += 1) {
      try {
        return await archiveOnce(live, options);
      } catch (error) {
        if (!(error instanceof ConflictError) || tries === MOST_TRIES) throw error;
      }
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const why = error instanceof WatchkeeperError ? error.message : describeError(error);
    throw new UnreachableError(
      `the critical events could not be archived (${why}): nothing is lost; see to space and permissions, and try again`,
      { cause: error },
    );
  }
}

async function archiveOnce(live: LiveFile, options: ArchivingOptions): Promise<Archived> {
  const file = await openEvents(live.path);
  if (file === null) return { events: 0, path: null, unacknowledged: 0 };
  try {
    const { events, offset, path, unacknowledged } = await findBeginning(live, file, options);
    if (events === 0) return { events, path: null, unacknowledged };
    await replaceByRest(live, file, offset, options);
    return { events, path, unacknowledged };
  } finally {
    await file.close();
  }
}

async function requirePlainFile(path: string): Promise<void> {
  const found = await lstat(path).catch(nullIfAbsent);
  if (found?.isSymbolicLink())
    throw new UsageError(`${path} is a link, and only a file can be replaced: let the logs folder itself be there`);
}

/** An unfinished copy has a name that readers ignore. */
async function clearArchiveFolder(livePath: string): Promise<void> {
  const folder = archiveFolderOf(livePath);
  const names = (await readdir(folder).catch(nullIfAbsent)) ?? [];
  for (const name of names) if (name.includes(PREPARED_MARK)) await rm(join(folder, name), { force: true });
}
