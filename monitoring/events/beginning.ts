/** The first part of archiving: finds the beginning of the live file that is to go, and copies it into the archive. */
import { type FileHandle, link, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConflictError, errorCode, UsageError } from '../../src/errors.js';
import { syncFolder } from '../../src/files/durableFile.js';
import { linesFrom } from '../../src/files/lines.js';
import { makePrivateFolder } from '../../src/files/privateFiles.js';
import { ulid } from '../../src/ids.js';
import { type Clock, isoTime } from '../../src/time.js';
import { EventConsumers } from './consumers.js';
import { parseEvent, withFile } from './criticalEventTail.js';
import type { LiveFile } from './liveFile.js';
import { archivedFiles, archivePath, firstEventId, isCopyOfBeginning, PREPARED_MARK } from './pieces.js';
import { EventReader } from './reader.js';

/** A crash after any of these must be harmless. */
export const ARCHIVING_STEPS = ['copied', 'archived', 'prepared', 'announced', 'completed', 'replaced'] as const;
export type ArchivingStep = (typeof ARCHIVING_STEPS)[number];

export interface ArchivingOptions {
  readonly clock: Clock;
  /** Only events that are older than this instant, epoch milliseconds, and acknowledged by every consumer are moved. */
  readonly before: number;
  /** Whether age alone decides if there is no consumer; otherwise nothing is moved then. */
  readonly needsNoConsumer?: boolean;
  readonly onStep?: (step: ArchivingStep) => unknown;
}

/** Everything before `offset` (in bytes) is in the archived file at `path`, synced, if there are `events`. */
export interface Beginning {
  readonly events: number;
  readonly offset: number;
  readonly path: string;
  readonly unacknowledged: number;
}

const CHUNK_BYTES = 256 * 1024;

/** @param file the live one @throws ConflictError if another process archives at the same time */
export async function findBeginning(live: LiveFile, file: FileHandle, options: ArchivingOptions): Promise<Beginning> {
  const archived = await archivedFiles(live.path);
  const first = await firstEventId(file);
  const newest = archived.at(-1);
  if (newest !== undefined) {
    const { path } = newest;
    const copy = { path, first: await withFile(path, firstEventId) };
    // Left by an archiving that did not finish.
    if (await isCopyOfBeginning(copy, file, first)) {
      const events = (await withFile(path, eventsIn)) ?? 0;
      return { events, offset: (await stat(path)).size, path, unacknowledged: 0 };
    }
  }
  const acknowledged = await acknowledgedOffset(live.path, options);
  if (!(await live.leadsTo(file))) throw new ConflictError('another process has replaced the live file');
  const { firstAt, ...beginning } = await oldBeginning(file, options.before, acknowledged);
  const sequence = (archived.at(-1)?.sequence ?? 0) + 1;
  const path = archivePath(live.path, sequence, isoTime(Math.max(0, firstAt)).slice(0, 10));
  if (beginning.events > 0) await copyBeginning(file, beginning.offset, path, options);
  return { ...beginning, path };
}

async function eventsIn(file: FileHandle): Promise<number> {
  let events = 0;
  for await (const { text } of linesFrom(file, 0)) if (parseEvent(text) !== null) events += 1;
  return events;
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
async function oldBeginning(file: FileHandle, before: number, acknowledged: number) {
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
    // Unlike a rename, a link never replaces another process's file.
    await link(prepared, path).catch((error: unknown) => {
      const isTaken = ['EEXIST', 'ENOENT'].includes(errorCode(error));
      throw isTaken ? new ConflictError(`another process has made ${path}`) : error;
    });
  } finally {
    await rm(prepared, { force: true });
  }
  await syncFolder(dirname(path));
  if (madeFolder !== undefined) await syncFolder(dirname(madeFolder));
  await options.onStep?.('archived');
}

/** @param to in bytes; infinity copies until the source has no more @returns how far it came @throws the file system's error */
export async function copyBytes(source: FileHandle, target: FileHandle, from: number, to: number): Promise<number> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let position = from;
  while (position < to) {
    const { bytesRead } = await source.read(chunk, 0, Math.min(CHUNK_BYTES, to - position), position);
    if (bytesRead === 0) break;
    await target.appendFile(chunk.subarray(0, bytesRead));
    position += bytesRead;
  }
  if (position < to && to !== Number.POSITIVE_INFINITY) throw new Error('the file became shorter while it was copied');
  return position;
}
