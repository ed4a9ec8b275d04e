/** Reads the last line of a journal without the lines before it. */
import { lstatSync } from 'node:fs';
import { describeError, errorCode, UnreachableError } from '../errors.js';
import { READ_NO_LINK, withFileSync } from '../files/plainFile.js';
import { readFromEnd } from '../files/readAt.js';
import { LONGEST_LINE_BYTES } from './reader.js';
import { type JournalRecord, parseRecord } from './record.js';

/** The first read holds every line except that of a long answer. */
const READ_BYTES = { first: 16 * 1024, most: 4 * LONGEST_LINE_BYTES };
const NEWLINE = 0x0a;
const BLANK = 0x20;

/** The errors that say that no journal is there: nothing, or a link. */
const NO_JOURNAL: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/**
 * @returns null if there is no plain file, or its last line is none, no JSON object, or far longer than {@link LONGEST_LINE_BYTES}
 * @throws UnreachableError if it cannot be read: what it holds is unknown, and must not be taken for nothing
 */
export function readLastLine(path: string): JournalRecord | null {
  // Checked before every run, and usually absent. An error with its stack costs ten times as much as this check.
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null;
    const line = withFileSync(path, READ_NO_LINK, (descriptor) =>
      readFromEnd(descriptor, READ_BYTES, (end, { isWhole }) => lastLineOf(end, isWhole)),
    );
    return line === null ? null : parseRecord(line.trimStart());
  } catch (error) {
    if (NO_JOURNAL.has(errorCode(error))) return null;
    throw new UnreachableError(`${path} cannot be read: ${describeError(error)}`, { cause: error });
  }
}

/** @returns null if the line begins before these bytes */
function lastLineOf(bytes: Buffer, isWhole: boolean): string | null {
  let ink = bytes.length;
  // A crash of the file system may leave zeros after the last line.
  while (ink > 0 && (bytes[ink - 1] ?? 0) <= BLANK) ink -= 1;
  const start = ink === 0 ? -1 : bytes.lastIndexOf(NEWLINE, ink - 1);
  if (start === -1 && !isWhole) return null;
  return bytes.toString('utf8', start + 1, ink);
}
