/** The second part of archiving: the rest of the live file takes its place. */
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConflictError, UsageError } from '../../src/errors.js';
import { syncFolder } from '../../src/files/durableFile.js';
import { ulid } from '../../src/ids.js';
import type { ArchivingOptions } from './archivingSteps.js';
import { copyBytes } from './copyBytes.js';
import type { LiveFile } from './liveFile.js';

const TO_THE_END = Number.POSITIVE_INFINITY;

/**
 * @param file the live file, open for reading
 * @param offset where the rest begins, in bytes
 * @throws ConflictError if the replacement was cancelled, or another process was first
 */
export async function replaceByRest(
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
    // Before the announcement, so that nobody waits for the bulk of it.
    const copied = await copyBytes(file, rest, offset, TO_THE_END);
    await rest.sync();
    await onStep?.('prepared');
    await renameOrConflict(prepared, announced);
    await onStep?.('announced');
    await copyBytes(file, rest, copied, TO_THE_END);
    await rest.sync();
    await onStep?.('completed');
    if (!(await live.leadsTo(file))) throw new ConflictError('the live file was replaced meanwhile');
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
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    throw new UsageError('the critical events belong to another user: archive as the user that the bridge runs as');
  }
}

async function renameOrConflict(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new ConflictError('the replacement was called off') : error;
  });
}
