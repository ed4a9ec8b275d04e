/** A file that is written line by line and appears whole: it is written next to its place, then moved there. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { NotPlainError } from '../files/plainFile.js';
import { PRIVATE_FILE } from '../files/privateFiles.js';

const BUFFERED_CHARACTERS = 256 * 1024;

export class LineFile {
  readonly #path: string;
  readonly #temporary: string;
  readonly #descriptor: number;
  #buffer = '';

  /**
   * @throws NotPlainError if something other than a file has that name
   * @throws the file system's error
   */
  constructor(path: string) {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && !stat.isFile()) throw new NotPlainError('it is there already, and not a plain file');
    this.#path = path;
    this.#temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
    this.#descriptor = openSync(this.#temporary, 'wx', PRIVATE_FILE);
  }

  /** @param line without a line end */
  write(line: string): void {
    this.#buffer += `${line}\n`;
    if (this.#buffer.length >= BUFFERED_CHARACTERS) this.#flush();
  }

  /** Call it once, after the last line. */
  putInPlace(): void {
    this.#flush();
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    renameSync(this.#temporary, this.#path);
  }

  /** Keeps the previous file. */
  discard(): void {
    try {
      closeSync(this.#descriptor);
    } catch {
      // It is closed already: the move into its place has failed.
    }
    rmSync(this.#temporary, { force: true });
  }

  #flush(): void {
    writeFileSync(this.#descriptor, this.#buffer);
    this.#buffer = '';
  }
}
