/** A file that is written line by line and appears whole: it is written beside its place, then moved there. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { NotPlainError } from '../files/plainFile.js';
import { PRIVATE_FILE } from '../files/privateFiles.js';

const BUFFERED_CHARACTERS = 256 * 1024;

export class LineFile {
  readonly #path: string;
  readonly #beside: string;
  readonly #descriptor: number;
  #buffer: string[] = [];
  #buffered = 0;

  private constructor(path: string, beside: string) {
    this.#path = path;
    this.#beside = beside;
    this.#descriptor = openSync(beside, 'wx', PRIVATE_FILE);
  }

  /**
   * @throws NotPlainError if something other than a file has that name
   * @throws the file system's error
   */
  static beside(path: string): LineFile {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && !stat.isFile()) throw new NotPlainError('it is there already, and not a plain file');
    return new LineFile(path, join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`));
  }

  /** @param line without a line end */
  write(line: string): void {
    this.#buffer.push(line, '\n');
    this.#buffered += line.length;
    if (this.#buffered >= BUFFERED_CHARACTERS) this.#flush();
  }

  /** Call it once, after the last line. */
  putInPlace(): void {
    this.#flush();
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    renameSync(this.#beside, this.#path);
  }

  /** Keeps the previous file. */
  discard(): void {
    try {
      closeSync(this.#descriptor);
    } catch {
      // It is closed already: the move into its place has failed.
    }
    rmSync(this.#beside, { force: true });
  }

  #flush(): void {
    const bytes = Buffer.from(this.#buffer.join(''));
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(this.#descriptor, bytes, written);
    }
    this.#buffer = [];
    this.#buffered = 0;
  }
}
