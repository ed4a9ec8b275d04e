import { readSync } from 'node:fs';

const SHARED_BYTES = 64 * 1024;
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
