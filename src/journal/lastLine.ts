/** Reads the last line of a journal without what stands before it. */
import { closeSync, constants, existsSync, fstatSync, openSync } from 'node:fs';
import { readAt } from './readAt.js';
import { type JournalRecord, LONGEST_LINE_BYTES } from './reader.js';

/** Holds every line but that of a long answer. */
const FIRST_BYTES = 16 * 1024;
const NEWLINE = 0x0a;
/** A file system that crashed may leave zeros behind the last line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: zeros are what is looked for
const BEHIND_INK = /[\u0000-\u0020]+$/;

/**
 * @param path a journal; it need not exist
 * @returns its last line; null where there is none, it cannot be read, it is no JSON object, or longer than
 *   {@link LONGEST_LINE_BYTES}
 */
export function readLastLine(path: string): JournalRecord | null {
  // Asked before every run, and mostly in vain: an error with its stack costs ten times as much as this look.
  if (!existsSync(path)) return null;
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = fstatSync(descriptor);
    for (let length = FIRST_BYTES; ; length *= 4) {
      const line = lastLineWithin(descriptor, size, Math.min(length, size));
      if (line !== null) return objectIn(line);
      if (length >= size || length > LONGEST_LINE_BYTES) return null;
    }
  } catch {
    return null;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** @returns null where the line begins before the file's last `length` bytes */
function lastLineWithin(descriptor: number, size: number, length: number): string | null {
  const tail = readAt(descriptor, size - length, length);
  const ink = tail.toString('latin1').replace(BEHIND_INK, '').length;
  const start = ink === 0 ? -1 : tail.lastIndexOf(NEWLINE, ink - 1);
  if (start === -1 && length < size) return null;
  return tail.toString('utf8', start + 1, ink);
}

/** @throws SyntaxError where it is no JSON */
function objectIn(line: string): JournalRecord | null {
  const record: unknown = JSON.parse(line);
  return typeof record === 'object' && record !== null && !Array.isArray(record) ? (record as JournalRecord) : null;
}
