/** Digests of files at the time when a session was kept: they show later which files have changed. */
import { constants } from 'node:fs';
import { resolve } from 'node:path';
import { digestOfFile } from '../../src/files/digestOfFile.js';
import { MOST_FILES } from '../fold/bounds.js';
import type { Workspace } from '../workspaces/workspace.js';

const MEBIBYTE = 1024 * 1024;
const LARGEST_FILE_BYTES = 64 * MEBIBYTE;
const MOST_BYTES = 512 * MEBIBYTE;
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

export interface FileDigest {
  readonly path: string;
  /** SHA-256, hexadecimal. */
  readonly digest: string;
}

/**
 * @param workspace where relative paths begin. Null if only absolute ones can be found
 * @returns one for each plain file that is there, can be read, and is not too large
 */
export function digestsOf(workspace: Workspace | null, paths: readonly string[]): FileDigest[] {
  let left = MOST_BYTES;
  return [...new Set(paths)].slice(0, MOST_FILES).flatMap((path) => {
    if (workspace === null && !path.startsWith('/')) return [];
    try {
      const place = resolve(workspace?.root ?? '/', path);
      const read = digestOfFile(place, READ, Math.min(left, LARGEST_FILE_BYTES));
      if (read === null) return [];
      left -= read.bytes;
      return [{ path, digest: read.digest }];
    } catch {
      // It is gone, or no plain file.
      return [];
    }
  });
}
