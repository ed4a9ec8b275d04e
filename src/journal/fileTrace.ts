/**
 * What is remembered of a file that is read as it grows, so that one that was truncated, replaced or written anew is told
 * from it: who it is, how it begins, and what stood before the place where reading ended. A file that is written anew to
 * the same size with an equal beginning differs there.
 */
import type { Stats } from 'node:fs';
import { readAt } from './readAt.js';

const HEAD_BYTES = 128;
const TRAIL_BYTES = 64;

export class FileTrace {
  #identity: string | null = null;
  #head = '';
  #trail = '';

  /** Nothing is remembered. */
  get isBlank(): boolean {
    return this.#identity === null;
  }

  /** Whether it is the same file by its inode; what stands in it is not looked at. */
  isOf(stat: Stats): boolean {
    return identify(stat) === this.#identity;
  }

  /**
   * @param descriptor open for reading
   * @param offset where reading ended
   * @returns whether the file still is the one that was remembered, grown or unchanged
   */
  continues(descriptor: number, stat: Stats, offset: number): boolean {
    if (!this.isOf(stat) || stat.size < offset) return false;
    return (
      textAt(descriptor, 0, this.#head.length) === this.#head &&
      textAt(descriptor, offset - this.#trail.length, this.#trail.length) === this.#trail
    );
  }

  /** @param offset where reading ended now */
  remember(descriptor: number, stat: Stats, offset: number): void {
    this.#identity = identify(stat);
    if (this.#head.length < HEAD_BYTES) this.#head = textAt(descriptor, 0, Math.min(HEAD_BYTES, stat.size));
    const length = Math.min(offset, TRAIL_BYTES);
    this.#trail = textAt(descriptor, offset - length, length);
  }

  forget(): void {
    this.#identity = null;
    this.#head = '';
    this.#trail = '';
  }
}

function identify(stat: Stats): string {
  return `${stat.dev}:${stat.ino}`;
}

function textAt(descriptor: number, position: number, length: number): string {
  return readAt(descriptor, position, length).toString('latin1');
}
