/** Appends whole lines, each call with one write, so that the lines of several processes never mix. */
import { writeSync } from 'node:fs';
import { blankTornLine, tornHalf } from './tornLine.js';

export class LineAppender {
  #path = '';
  #descriptor = -1;
  /** The bytes of this writer's last write after its last line feed; null if no other process writes the file. */
  #ownHalf: Buffer | null;
  /** The file may end with an incomplete line: a full disk cut off ours, or a crash that of another process. */
  #mayBeTorn = true;

  /** @param isShared whether other processes append to the file, too */
  constructor({ isShared }: { readonly isShared: boolean }) {
    this.#ownHalf = isShared ? Buffer.alloc(0) : null;
  }

  /** @param descriptor the file at `path`, open for reading and appending */
  use(path: string, descriptor: number): void {
    this.#path = path;
    this.#descriptor = descriptor;
    this.#mayBeTorn = true;
  }

  /** First ends a line that was cut off; no lines do only that. @throws the file system's error; Error if not all was written */
  append(lines: string): void {
    const ending = this.#mayBeTorn ? blankTornLine(this.#path, this.#descriptor, this.#ownHalf) : '';
    const bytes = Buffer.from(`${ending}${lines}`);
    const written = bytes.length === 0 ? 0 : writeSync(this.#descriptor, bytes);
    this.#mayBeTorn = written < bytes.length;
    if (this.#ownHalf !== null) this.#ownHalf = tornHalf(bytes, written);
    if (this.#mayBeTorn)
      throw new Error(`only ${written} of ${bytes.length} bytes went into ${this.#path}: is the disk full?`);
  }
}
