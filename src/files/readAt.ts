/** Reads parts of an open file: from a place on, or from its end, because its beginning may be long and is not needed. */
import { fstatSync, readSync } from 'node:fs';

const SHARED_BYTES = 512 * 1024;
/** Shared by most reads, one after the other: allocating memory for each costs as much as reading. */
const shared = Buffer.allocUnsafeSlow(SHARED_BYTES);

/** @returns `length` bytes from `position` on, valid until the next call; fewer if the file ends before */
export function readAt(descriptor: number, position: number, length: number): Buffer {
  const buffer = length <= SHARED_BYTES ? shared : Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(descriptor, buffer, filled, length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/**
 * Reads the end of a file, four times as much each time, until `find` has found what it looks for.
 * @param descriptor open for reading
 * @param bytes how much is read first and at most
 * @param find gets the file's end, valid until it returns, and whether no more will be read; `isWhole` if it is the whole file.
 *   It returns null to get more
 * @returns the result of `find`; null if it never had one
 * @throws the file system's error
 */
export function readFromEnd<Found>(
  descriptor: number,
  bytes: { readonly first: number; readonly most: number },
  find: (end: Buffer, extent: { readonly isWhole: boolean; readonly isLast: boolean }) => Found | null,
): Found | null {
  const { size } = fstatSync(descriptor);
  for (let wanted = bytes.first; ; wanted *= 4) {
    const length = Math.min(wanted, bytes.most, size);
    const isWhole = length === size;
    const isLast = isWhole || length === bytes.most;
    const found = find(readAt(descriptor, size - length, length), { isWhole, isLast });
    if (found !== null || isLast) return found;
  }
}
