/** What files held when a session was kept: whoever goes on sees which were changed since. */
import { createHash } from 'node:crypto';
import { constants, fstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { withFileSync } from '../../src/files/plainFile.js';
import { readAt } from '../../src/files/readAt.js';
import { MOST_FILES } from '../fold/bounds.js';
import type { Workspace } from '../workspaces/workspace.js';

const CHUNK_BYTES = 1024 * 1024;
const LARGEST_FILE_BYTES = 64 * CHUNK_BYTES;
const MOST_BYTES = 512 * CHUNK_BYTES;
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

export interface FileDigest {
  readonly path: string;
  /** SHA-256, hexadecimal. */
  readonly digest: string;
}

/**
 * @param workspace in which the paths are named; null: only absolute ones can be found
 * @returns one for each plain file that is there, can be read, and is not too large
 */
export function digestsOf(workspace: Workspace | null, paths: readonly string[]): FileDigest[] {
  let left = MOST_BYTES;
  return [...new Set(paths)].slice(0, MOST_FILES).flatMap((path) => {
    if (workspace === null && !path.startsWith('/')) return [];
    try {
      const read = withFileSync(resolve(workspace?.root ?? '/', path), READ, (descriptor) =>
        digestOf(descriptor, left),
      );
      if (read === null) return [];
      left -= read.bytes;
      return [{ path, digest: read.digest }];
    } catch {
      // It is gone, or no plain file.
      return [];
    }
  });
}

function digestOf(descriptor: number, most: number): { readonly bytes: number; readonly digest: string } | null {
  const stat = fstatSync(descriptor);
  if (!stat.isFile() || stat.size > Math.min(most, LARGEST_FILE_BYTES)) return null;
  const hash = createHash('sha256');
  for (let at = 0; at < stat.size; ) {
    const chunk = readAt(descriptor, at, Math.min(CHUNK_BYTES, stat.size - at));
    if (chunk.length === 0) break;
    hash.update(chunk);
    at += chunk.length;
  }
  return { bytes: stat.size, digest: hash.digest('hex') };
}
