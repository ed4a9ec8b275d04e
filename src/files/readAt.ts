import { readSync } from 'node:fs';

const SHARED_BYTES = 64 * 1024;
/** What most reading goes into, one after the other: memory that is new each time costs as much as reading it. */
const shared = Buffer.allocUnsafeSlow(SHARED_BYTES);

/** @returns `length` bytes from `position` on, to be used before the next call; fewer where the file ends before */
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
