import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 256 * 1024;

/**
 * Appends the bytes of one file to another that has no other writer.
 * @param from in bytes
 * @param to in bytes; infinity copies until the source has no more
 * @returns how far it came in the source
 * @throws the file system's error, and an error if fewer bytes were written than given (a full disk)
 */
export async function copyBytes(source: FileHandle, target: FileHandle, from: number, to: number): Promise<number> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let position = from;
  while (position < to) {
    const { bytesRead } = await source.read(chunk, 0, Math.min(CHUNK_BYTES, to - position), position);
    if (bytesRead === 0) break;
    for (let written = 0; written < bytesRead; ) {
      const { bytesWritten } = await target.write(chunk, written, bytesRead - written);
      if (bytesWritten === 0) throw new Error('the file system takes no more bytes');
      written += bytesWritten;
    }
    position += bytesRead;
  }
  if (position < to && to !== Number.POSITIVE_INFINITY) throw new Error('the file became shorter while it was copied');
  return position;
}
