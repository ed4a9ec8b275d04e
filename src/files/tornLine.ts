/**
 * A line that a full disk or a crash cut off at the end of a file of lines. It is overwritten with blanks before the next line
 * is appended, so that the next line begins with blanks and every line of the file is readable. It is overwritten rather than
 * truncated, because another process may append at the same instant; and blanks need no more room on the disk.
 *
 * A file that several processes write may end with an incomplete line because one of them is just writing it. There, a writer
 * blanks only its own remainder, and ends that of others with a line feed.
 */
import { constants, fstatSync, writeSync } from 'node:fs';
import { withFileSync } from './plainFile.js';
import { readAt, readFromEnd } from './readAt.js';

const NEWLINE = 0x0a;
const BLANK = 0x20;
/** None of our lines comes near the maximum. */
const READ_BYTES = { first: 64 * 1024, most: 4 * 1024 * 1024 };
/** While a process writes a line that crosses a page, the kernel shows other processes a part of it. */
const MOST_LOOKS = 10;
const BETWEEN_LOOKS_MS = 2;

/**
 * @param path of the file
 * @param descriptor the same file, open for reading and appending
 * @param ownHalf the bytes of this writer's last write after its last line feed; null if no other process writes the file
 * @returns the text to write before the next line: nothing, or a line feed if the torn line cannot be overwritten, or lacks
 *   nothing but its line feed
 * @throws the file system's error if the file cannot be read
 */
export function blankTornLine(path: string, descriptor: number, ownHalf: Buffer | null): '' | '\n' {
  for (let look = 1; ; look += 1) {
    const { size } = fstatSync(descriptor);
    if (size === 0 || readAt(descriptor, size - 1, 1)[0] === NEWLINE) return '';
    const torn = tornLine(descriptor);
    if (torn === null) return '\n';
    const ink = torn.subarray(torn.findIndex((byte) => byte !== BLANK));
    if (ink[0] === BLANK) return '';
    const isOurs = ownHalf === null || ownHalf.equals(ink);
    if (isOurs) return !isJson(ink) && overwrite(path, descriptor, size - ink.length, ink.length) ? '' : '\n';
    if (look === MOST_LOOKS) return '\n';
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN_LOOKS_MS);
  }
}

/** @returns the part of the written bytes after its last line feed */
export function tornHalf(bytes: Buffer, written: number): Buffer {
  const taken = bytes.subarray(0, written);
  return taken.subarray(taken.lastIndexOf(NEWLINE) + 1);
}

/** @returns the text after the last line feed; null if it is too long */
function tornLine(descriptor: number): Buffer | null {
  return readFromEnd(descriptor, READ_BYTES, (end, { isWhole }) => {
    const lineFeed = end.lastIndexOf(NEWLINE);
    return lineFeed === -1 && !isWhole ? null : Buffer.from(end.subarray(lineFeed + 1));
  });
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** On a descriptor that appends, every write goes to the end, so the file is opened again. */
function overwrite(path: string, appending: number, start: number, length: number): boolean {
  try {
    return withFileSync(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK, (descriptor) => {
      const [found, meant] = [fstatSync(descriptor), fstatSync(appending)];
      if (found.ino !== meant.ino || found.dev !== meant.dev) return false;
      return writeSync(descriptor, Buffer.alloc(length, BLANK), 0, length, start) === length;
    });
  } catch {
    return false;
  }
}
