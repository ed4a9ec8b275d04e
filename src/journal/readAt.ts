import { readSync } from 'node:fs';

/** @returns `length` bytes from `position` on; fewer where the file ends before */
export function readAt(descriptor: number, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(descriptor, buffer, filled, length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}
