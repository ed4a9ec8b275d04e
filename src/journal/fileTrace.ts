/**
 * What is remembered of a file that is read as it grows, so that one that was truncated, replaced or written anew is told
 * from it: who it is, how it begins, and what stood before the place where reading ended. A file that is written anew to
 * the same size with an equal beginning differs there. Of both a digest is kept, for they are only compared.
 */
import type { Stats } from 'node:fs';
import { readAt } from '../files/readAt.js';

const HEAD_BYTES = 128;
const TRAIL_BYTES = 64;

export class FileTrace {
  #device = 0;
  /** Null: nothing is remembered. */
  #inode: number | null = null;
  #head = 0;
  #headLength = 0;
  #trail = 0;

  /** Nothing is remembered. */
  get isBlank(): boolean {
    return this.#inode === null;
  }

  /** Whether it is the same file by its inode; what stands in it is not looked at. */
  isOf(stat: Stats): boolean {
    return stat.ino === this.#inode && stat.dev === this.#device;
  }

  /**
   * @param descriptor open for reading
   * @param offset where reading ended
   * @returns whether the file still is the one that was remembered, grown or unchanged
   */
  continues(descriptor: number, stat: Stats, offset: number): boolean {
    if (!this.isOf(stat) || stat.size < offset) return false;
    return digestAt(descriptor, 0, this.#headLength) === this.#head && trailBefore(descriptor, offset) === this.#trail;
  }

  /** @param offset where reading ended now */
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

/** FNV-1a, 32 bits; who makes two files of one digest deceives nobody but the judgement of his own session. */
function digestAt(descriptor: number, position: number, length: number): number {
  let digest = 0x811c9dc5;
  for (const byte of readAt(descriptor, position, length)) digest = Math.imul(digest ^ byte, 0x01000193);
  return digest;
}
