/** The first part of archiving: finds the beginning of the live file that is to go, and copies it into the archive. */
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConflictError, UsageError } from '../../src/errors.js';
import { syncFolder } from '../../src/files/durableFile.js';
import { linesFrom } from '../../src/files/lines.js';
import { makePrivateFolder } from '../../src/files/privateFiles.js';
import { ulid } from '../../src/ids.js';
import { isoTime } from '../../src/time.js';
import type { ArchivingOptions } from './archivingSteps.js';
import { EventConsumers } from './consumers.js';
import { copyBytes } from './copyBytes.js';
import { parseEvent, withFile } from './criticalEventTail.js';
import { type LiveFile, nullIfAbsent } from './liveFile.js';
import { archivedFiles, archivePath, firstEventId, isCopyOfBeginning, PREPARED_MARK } from './pieces.js';
import { EventReader } from './reader.js';

/** Everything before `offset` (in bytes) is in the archived file at `path`, synced, if there are `events`. */
export interface Beginning {
  readonly events: number;
  readonly offset: number;
  readonly path: string;
  readonly unacknowledged: number;
}

/** Errors of file systems without hard links. */
const NO_LINKS: readonly (string | undefined)[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/**
 * @param file the live file, open for reading
 * @throws ConflictError if another process archives at the same time
 */
export async function findBeginning(live: LiveFile, file: FileHandle, options: ArchivingOptions): Promise<Beginning> {
  const archived = await archivedFiles(live.path);
  const first = await firstEventId(file);
  const newest = archived.at(-1);
  if (newest !== undefined) {
    const { path } = newest;
    const copy = { path, first: await withFile(path, firstEventId) };
    // Left by an archiving that did not finish.
    if (await isCopyOfBeginning(copy, file, first)) return { ...(await sizeOf(path)), path, unacknowledged: 0 };
  }
  const acknowledged = await acknowledgedOffset(live.path, options);
  if (!(await live.leadsTo(file))) throw new ConflictError('the live file was replaced meanwhile');
  const { firstAt, ...beginning } = await oldBeginning(file, options.before, acknowledged);
  const sequence = (archived.at(-1)?.sequence ?? 0) + 1;
  const path = archivePath(live.path, sequence, isoTime(Math.max(0, firstAt)).slice(0, 10));
  if (beginning.events > 0) await copyBeginning(file, beginning.offset, path, options);
  return { ...beginning, path };
}

async function sizeOf(path: string): Promise<{ offset: number; events: number }> {
  const archived = await open(path, 'r');
  try {
    let events = 0;
    for await (const { text } of linesFrom(archived, 0)) if (parseEvent(text) !== null) events += 1;
    return { offset: (await archived.stat()).size, events };
  } finally {
    await archived.close();
  }
}

/** @returns how much of the live file every consumer has acknowledged, in bytes; if there is no consumer, none or all of it */
async function acknowledgedOffset(
  livePath: string,
  { clock, needsNoConsumer = false }: ArchivingOptions,
): Promise<number> {
  const consumers = new EventConsumers(livePath, clock);
  const places = [...(await consumers.all())];
  const { positions, pieces } = await new EventReader(livePath).locate(places.map(([, place]) => place));
  const offsets = positions.map((position, index) => {
    if (position !== null) return position.piece === pieces - 1 ? position.offset : 0;
    const [name] = places[index] ?? [];
    throw new UsageError(
      `the consumer ${name} has acknowledged an event that is not in this log: acknowledge again for it, or delete its file in ${consumers.folder}`,
    );
  });
  if (offsets.length === 0) return needsNoConsumer ? Number.POSITIVE_INFINITY : 0;
  return Math.min(...offsets);
}

/** Ends before the first event that is too young or not acknowledged, so that the archive stays in order. */
async function oldBeginning(
  file: FileHandle,
  before: number,
  acknowledged: number,
): Promise<{ events: number; offset: number; unacknowledged: number; firstAt: number }> {
  const found = { events: 0, offset: 0, unacknowledged: 0, firstAt: 0 };
  for await (const { text, end, whole } of linesFrom(file, 0)) {
    const event = parseEvent(text);
    if (event === null) continue;
    const at = Date.parse(event.timestamp);
    if (at >= before || !whole) break;
    if (end > acknowledged) found.unacknowledged += 1;
    else {
      if (found.events === 0) found.firstAt = at;
      found.events += 1;
      found.offset = end;
    }
  }
  return found;
}

/** The file appears under its name whole and synced, or not at all. */
async function copyBeginning(live: FileHandle, end: number, path: string, options: ArchivingOptions): Promise<void> {
  const madeFolder = await makePrivateFolder(dirname(path));
  const prepared = `${path}${PREPARED_MARK}${ulid(options.clock)}`;
  try {
    const copy = await open(prepared, 'wx', (await live.stat()).mode & 0o777);
    try {
      await copyBytes(live, copy, 0, end);
      await copy.sync();
    } finally {
      await copy.close();
    }
    await options.onStep?.('copied');
    await appearAs(prepared, path);
  } finally {
    await rm(prepared, { force: true });
  }
  await syncFolder(dirname(path));
  if (madeFolder !== undefined) await syncFolder(dirname(madeFolder));
  await options.onStep?.('archived');
}

async function appearAs(prepared: string, path: string): Promise<void> {
  try {
    // Unlike a rename, a link never replaces another process's file.
    await link(prepared, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOENT') throw new ConflictError(`somebody else has made ${path}`);
    if (!NO_LINKS.includes(code)) throw error;
    const taken = await open(path, 'r').catch(nullIfAbsent);
    await taken?.close();
    if (taken !== null) throw new ConflictError(`somebody else has made ${path}`);
    await rename(prepared, path);
  }
}
