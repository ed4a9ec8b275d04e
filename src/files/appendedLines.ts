/**
 * Reads the lines of a file that only grows, from an offset on, without taking the file into memory.
 */
import type { FileHandle } from 'node:fs/promises';

export interface AppendedLine {
  readonly text: string;
  /** Offset behind the line and its line end, in bytes. */
  readonly end: number;
  /** False for what stands behind the last line end: a line being written, or one that a crash cut off. */
  readonly whole: boolean;
}

/** Longer lines are passed over: nothing that we write comes near it. */
const LONGEST_LINE_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;

/**
 * @param file open for reading
 * @param offset in bytes, at the beginning of a line
 * @returns the lines from there to the end that the file has now. Only a line feed ends a line; empty lines and lines over
 *   1 MiB are left out.
 */
export async function* linesFrom(file: FileHandle, offset: number): AsyncGenerator<AppendedLine> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let pieces: Buffer[] = [];
  let length = 0;
  let position = offset;
  const take = (piece: Buffer) => {
    length += piece.length;
    if (length <= LONGEST_LINE_BYTES) pieces.push(Buffer.from(piece));
    else pieces = [];
  };
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    let start = 0;
    for (
      let end = indexOfLineFeed(chunk, start, bytesRead);
      end !== -1;
      end = indexOfLineFeed(chunk, start, bytesRead)
    ) {
      take(chunk.subarray(start, end));
      if (pieces.length > 0 && length > 0)
        yield { text: Buffer.concat(pieces).toString('utf8'), end: position + end + 1, whole: true };
      pieces = [];
      length = 0;
      start = end + 1;
    }
    take(chunk.subarray(start, bytesRead));
    position += bytesRead;
  }
  if (pieces.length > 0 && length > 0)
    yield { text: Buffer.concat(pieces).toString('utf8'), end: position, whole: false };
}

function indexOfLineFeed(chunk: Buffer, from: number, to: number): number {
  const index = chunk.indexOf(LINE_FEED, from);
  return index >= to ? -1 : index;
}
