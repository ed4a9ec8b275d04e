/**
 * The log of critical events as one row of files: the archived ones in their order, then the live one. Each archived file
 * is a former beginning of the live one, byte for byte.
 */
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type AppendedLine, linesFrom } from '../../src/files/appendedLines.js';
import { openEvents, parseEvent, withFile } from './criticalEventTail.js';
import { nullIfAbsent } from './liveFile.js';

/** A file of the row. */
export interface Piece {
  readonly path: string;
  /** The live file, which is held open; null for an archived one, which nobody replaces. */
  readonly live: FileHandle | null;
  /** The id of its first event; null where it holds none. */
  readonly first: string | null;
}

const SEQUENCE_DIGITS = 6;
/** Stands in the name of a copy that is being made. */
export const PREPARED_MARK = '.prepared-';

/** @returns `{logs}/archive` */
export function archiveFolderOf(livePath: string): string {
  return join(dirname(livePath), 'archive');
}

/**
 * @param sequence its place in the row, from 1
 * @param day of its first event, as `2026-02-05`
 * @returns the path of an archived file
 */
export function archivePath(livePath: string, sequence: number, day: string): string {
  const number = String(sequence).padStart(SEQUENCE_DIGITS, '0');
  return join(archiveFolderOf(livePath), `${basename(livePath, '.jsonl')}-${number}-${day}.jsonl`);
}

/** @returns the archived files in their order */
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
 * Opens the row as it is now. The live file is opened first, so that an archiving in between leaves nothing out: what it
 * moved is then found in the live file that was opened, and its archived copy is left aside. So is one that an archiving
 * that was killed has left.
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
    const copied = first === null ? -1 : pieces.findIndex((piece) => piece.first === first);
    return [...(copied === -1 ? pieces : pieces.slice(0, copied)), { path: livePath, live, first }];
  } catch (error) {
    await live?.close();
    throw error;
  }
}

export async function closePieces(pieces: readonly Piece[]): Promise<void> {
  for (const { live } of pieces) await live?.close();
}

/** @returns the lines of the piece from an offset on, in bytes */
export async function* linesOf({ path, live }: Piece, offset: number): AsyncGenerator<AppendedLine> {
  if (live !== null) return yield* linesFrom(live, offset);
  const file = await open(path, 'r');
  try {
    yield* linesFrom(file, offset);
  } finally {
    await file.close();
  }
}

/** @returns the id of the first event in the file; null where it holds none */
export async function firstEventId(file: FileHandle): Promise<string | null> {
  for await (const { text } of linesFrom(file, 0)) {
    const event = parseEvent(text);
    if (event !== null) return event.id;
  }
  return null;
}
