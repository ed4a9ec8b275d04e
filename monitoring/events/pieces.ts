/** The critical events as one sequence of files: the archived ones, each a former beginning of the live one, then the live one. */
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { nullIfAbsent } from '../../src/errors.js';
import { type AppendedLine, linesFrom } from '../../src/files/lines.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { openEvents, parseEvent, withFile } from './criticalEventTail.js';

/** A file of the sequence. */
export interface Piece {
  readonly path: string;
  /** The live file, which is held open; null for an archived one, which is never replaced. */
  readonly live: FileHandle | null;
  readonly first: string | null;
}

const SEQUENCE_DIGITS = 6;
const CHUNK_BYTES = 64 * 1024;
/** Part of the name of a copy in progress. */
export const PREPARED_MARK = '.prepared-';

export function archiveFolderOf(livePath: string): string {
  return join(dirname(livePath), 'archive');
}

/** @param sequence from 1 @param day of its first event, as `2026-02-05` */
export function archivePath(livePath: string, sequence: number, day: string): string {
  const number = String(sequence).padStart(SEQUENCE_DIGITS, '0');
  return join(archiveFolderOf(livePath), `${basename(livePath, '.jsonl')}-${number}-${day}.jsonl`);
}

export async function archivedFiles(livePath: string): Promise<{ path: string; sequence: number }[]> {
  const folder = archiveFolderOf(livePath);
  const stem = `${basename(livePath, '.jsonl')}-`;
  const names = (await readdir(folder).catch(nullIfAbsent)) ?? [];
  const found = names.flatMap((name) => {
    const match = name.startsWith(stem) ? /^(\d{6,})-\d{4}-\d{2}-\d{2}\.jsonl$/.exec(name.slice(stem.length)) : null;
    return match === null ? [] : [{ path: join(folder, name), sequence: Number(match[1]) }];
  });
  return found.sort((a, b) => a.sequence - b.sequence);
}

/**
 * Opens the sequence as it is now. The live file is opened first, so that an archiving in between leaves nothing out: the lines
 * that it moved are still in the live file that was opened, and the archived copy is ignored. So is the copy that a killed
 * archiving left.
 * @returns the files in order; the caller closes them, see {@link closePieces}
 */
export async function openPieces(livePath: string): Promise<Piece[]> {
  const live = await openEvents(livePath);
  try {
    const pieces: Piece[] = [];
    for (const { path } of await archivedFiles(livePath)) {
      pieces.push({ path, live: null, first: await withFile(path, firstEventId) });
    }
    if (live === null) return pieces;
    const first = await firstEventId(live);
    const newest = pieces.at(-1);
    const isCopy = newest !== undefined && (await isCopyOfBeginning(newest, live, first));
    return [...(isCopy ? pieces.slice(0, -1) : pieces), { path: livePath, live, first }];
  } catch (error) {
    await live?.close();
    throw error;
  }
}

/** A killed archiving leaves a copy. Its first id is no proof: an event that was written twice may begin both files. */
export async function isCopyOfBeginning(
  archived: { readonly path: string; readonly first: string | null },
  live: FileHandle,
  first: string | null,
): Promise<boolean> {
  if (first === null || archived.first !== first) return false;
  const copy = await open(archived.path, 'r');
  try {
    const { size } = await copy.stat();
    for (let at = 0; at < size; at += CHUNK_BYTES) {
      const bytes = Math.min(CHUNK_BYTES, size - at);
      if (!(await bytesAt(copy, at, bytes)).equals(await bytesAt(live, at, bytes))) return false;
    }
    return true;
  } finally {
    await copy.close();
  }
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const chunk = Buffer.alloc(length);
  const { bytesRead } = await file.read(chunk, 0, length, position);
  return chunk.subarray(0, bytesRead);
}

export async function closePieces(pieces: readonly Piece[]): Promise<void> {
  for (const { live } of pieces) await live?.close();
}

export async function* linesOf({ path, live }: Piece, offset: number): AsyncGenerator<AppendedLine> {
  if (live !== null) return yield* linesFrom(live, offset);
  const file = await open(path, 'r');
  try {
    yield* linesFrom(file, offset);
  } finally {
    await file.close();
  }
}

/** @returns the first event in the file; null if it holds none */
export async function firstEvent(file: FileHandle): Promise<CriticalEvent | null> {
  for await (const { text } of linesFrom(file, 0)) {
    const event = parseEvent(text);
    if (event !== null) return event;
  }
  return null;
}

export async function firstEventId(file: FileHandle): Promise<string | null> {
  return (await firstEvent(file))?.id ?? null;
}
