/** The contents of files in one digest: git says of an untracked file no more than its name. */
import { createHash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { digestOfFile } from '../../src/files/digestOfFile.js';
import { READ_NO_LINK } from '../../src/files/plainFile.js';
import { seenEntry } from '../../src/files/seenFile.js';
import { MOST_ENTRIES } from './changes.js';

/** Read in a second or two, also from a slow disk. */
const MOST_BYTES = 128 * 1024 * 1024;
const DIGEST_LENGTH = 16;

/**
 * Contents are read, because a mere touch changes a time. Beyond a bound in bytes and in files, where reading would take too long,
 * size and time have to do: to report a change that was none is better than to miss one.
 * @param root the paths are relative to it
 * @param paths in an order that stays the same
 * @returns null without paths
 */
export function contentsDigest(root: string, paths: readonly string[]): string | null {
  if (paths.length === 0) return null;
  const hash = createHash('sha256');
  let bytes = MOST_BYTES;
  for (const [index, path] of paths.entries()) {
    const read = entryDigest(join(root, path), index < MOST_ENTRIES ? bytes : 0);
    bytes -= read.bytes;
    hash.update(JSON.stringify([path, read.digest]));
  }
  return hash.digest('hex').slice(0, DIGEST_LENGTH);
}

function entryDigest(path: string, most: number): { readonly bytes: number; readonly digest: string } {
  const stat = seenEntry(path);
  try {
    if (stat?.isSymbolicLink()) return { bytes: 0, digest: readlinkSync(path) };
    const read = stat?.isFile() && stat.size <= most ? digestOfFile(path, READ_NO_LINK, most) : null;
    if (read !== null) return read;
  } catch {
    // It was removed in the meantime, or must not be read.
  }
  // A folder here is another repository: its time also changes without work on this one.
  return { bytes: 0, digest: stat?.isFile() ? `${stat.size} ${stat.mtimeMs}` : '' };
}
