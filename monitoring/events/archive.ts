/**
 * Moves the old beginning of `critical_events.jsonl` into `archive/`. A crash after any step is harmless:
 *
 * 1. copy the beginning into a new archived file: whole, synced, then visible under its name
 * 2. copy the rest next to the live file; announce it; copy the lines appended in the meantime; sync
 * 3. move the rest into the live file's place
 *
 * Until step 3 the live file is untouched, and readers ignore the copy. An archiving that is repeated after a crash finds the
 * copy of step 1 and cuts exactly there. How concurrent appends lose no line: `liveFile.ts`.
 */
import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  ConflictError,
  describeError,
  errorCode,
  nullIfAbsent,
  UnreachableError,
  UsageError,
  WatchkeeperError,
} from '../../src/errors.js';
import { syncFolder } from '../../src/files/durableFile.js';
import { ulid } from '../../src/ids.js';
import { type ArchivingOptions, copyBytes, findBeginning } from './beginning.js';
import { withFile } from './criticalEventTail.js';
import { LiveFile } from './liveFile.js';
import { archiveFolderOf, PREPARED_MARK } from './pieces.js';

export interface Archived {
  readonly events: number;
  /** Path of the archived file; null if nothing was moved. */
  readonly path: string | null;
  /** How many events are old enough but kept, because some consumer has not acknowledged them. */
  readonly unacknowledged: number;
}

/** Others may archive at the same time, or cancel this archiving because it took long. */
const MOST_TRIES = 5;
const TO_THE_END = Number.POSITIVE_INFINITY;

/** @throws UsageError for a consumer's foreign cursor, or a link; UnreachableError if a file cannot be written: nothing is lost */
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
      `the critical events could not be archived (${why}): nothing is lost; check space and permissions, and try again`,
      { cause: error },
    );
  }
}

async function archiveOnce(live: LiveFile, options: ArchivingOptions): Promise<Archived> {
  const archived = await withFile(live.path, async (file): Promise<Archived> => {
    const { events, offset, path, unacknowledged } = await findBeginning(live, file, options);
    if (events === 0) return { events, path: null, unacknowledged };
    await replaceByRest(live, file, offset, options);
    return { events, path, unacknowledged };
  });
  return archived ?? { events: 0, path: null, unacknowledged: 0 };
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

/** The file from `offset`, in bytes, takes its place. @throws ConflictError if it was cancelled, or another was first */
async function replaceByRest(
  live: LiveFile,
  file: FileHandle,
  offset: number,
  { clock, onStep }: ArchivingOptions,
): Promise<void> {
  const id = ulid(clock);
  const prepared = live.preparation(id);
  const announced = live.announcement(id);
  const rest = await openLike(file, prepared);
  try {
    // Before the announcement, so that no writer waits for the bulk of it.
    const copied = await copyBytes(file, rest, offset, TO_THE_END);
    await rest.sync();
    await onStep?.('prepared');
    await renameOrConflict(prepared, announced);
    await onStep?.('announced');
    await copyBytes(file, rest, copied, TO_THE_END);
    await rest.sync();
    await onStep?.('completed');
    if (!(await live.leadsTo(file))) throw new ConflictError('another process has replaced the live file');
    await renameOrConflict(announced, live.path);
    await syncFolder(dirname(live.path));
    await onStep?.('replaced');
  } finally {
    await rest.close();
    await rm(prepared, { force: true });
    await rm(announced, { force: true });
  }
}

/** Every process that may append to the live file must be able to append to its replacement. */
async function openLike(file: FileHandle, path: string): Promise<FileHandle> {
  const { mode, uid, gid } = await file.stat();
  const made = await open(path, 'wx', mode & 0o777);
  try {
    await made.chmod(mode & 0o777);
    const own = await made.stat();
    if (own.uid !== uid || own.gid !== gid) await made.chown(uid, gid);
    return made;
  } catch (error) {
    await made.close();
    await rm(path, { force: true });
    if (errorCode(error) !== 'EPERM') throw error;
    throw new UsageError('the critical events belong to another user: archive as the user that the bridge runs as');
  }
}

async function renameOrConflict(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: unknown) => {
    throw errorCode(error) === 'ENOENT' ? new ConflictError('the replacement was called off') : error;
  });
}
