/**
 * The trace of a file that is read as it grows, to detect that it was truncated, replaced or rewritten: its inode, its beginning,
 * and the text before the place at which reading ended. That text differs in a file that was rewritten to the same size with the
 * same beginning. Only digests of both are kept, because they are only compared.
 */
import type { Stats } from 'node:fs';
import { readAt } from '../files/readAt.js';

const HEAD_BYTES = 128;
const TRAIL_BYTES = 64;

export class FileTrace {
  #device = 0;
  /** Null if nothing is remembered. */
  #inode: number | null = null;
  #head = 0;
  #headLength = 0;
  #trail = 0;

  /** Whether nothing is remembered. */
  get isBlank(): boolean {
    return this.#inode === null;
  }

  /** Whether it is the same file by its inode, whatever its content. */
  isOf(stat: Stats): boolean {
    return stat.ino === this.#inode && stat.dev === this.#device;
  }

  /** @param offset at which reading ended @returns whether the file is still the same, grown or unchanged */
  continues(descriptor: number, stat: Stats, offset: number): boolean {
    if (!this.isOf(stat) || stat.size < offset) return false;
    return digestAt(descriptor, 0, this.#headLength) === this.#head && trailBefore(descriptor, offset) === this.#trail;
  }

  /** @param offset at which reading ended now */
  remember(descriptor: number, stat: Stats, offset: number): void {
    this.#device = stat.dev;
    this.#inode = stat.ino;
    if (this.#headLength < HEAD_BYTES) {
      this.#headLength = Math.min(HEAD_BYTES, stat.size);
      this.#head = digestAt(descriptor, 0, this.#headLength);
    }
    this.#trail = trailBefore(descriptor, offset);
  }

  forget(): void {
    this.#inode = null;
    this.#headLength = 0;
  }
}

function trailBefore(descriptor: number, offset: number): number {
  const length = Math.min(offset, TRAIL_BYTES);
  return digestAt(descriptor, offset - length, length);
}

/** FNV-1a, 32 bits. A user who forges two files with one digest deceives only the judgement of their own session. */
function digestAt(descriptor: number, position: number, length: number): number {
  let digest = 0x811c9dc5;
  for (const byte of readAt(descriptor, position, length)) digest = Math.imul(digest ^ byte, 0x01000193);
  return digest;
}
