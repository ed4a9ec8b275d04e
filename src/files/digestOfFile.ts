/** The digest of a file's content. */
import { createHash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { withFileSync } from './plainFile.js';
import { readAt } from './readAt.js';

const CHUNK_BYTES = 1024 * 1024;

/**
 * @param flags of `open`; with `O_NONBLOCK`, a pipe is not waited for
 * @param mostBytes a larger file is not read
 * @returns its length, and its SHA-256 in hexadecimal; null if it is too large, or no plain file
 * @throws the file system's error
 */
export function digestOfFile(path: string, flags: number, mostBytes: number) {
  return withFileSync(path, flags, (descriptor) => {
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || stat.size > mostBytes) return null;
    const hash = createHash('sha256');
    for (let at = 0; at < stat.size; ) {
      const chunk = readAt(descriptor, at, Math.min(CHUNK_BYTES, stat.size - at));
      if (chunk.length === 0) break;
      hash.update(chunk);
      at += chunk.length;
    }
    return { bytes: stat.size, digest: hash.digest('hex') };
  });
}
