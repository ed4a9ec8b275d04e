/**
 * Lines in a folder that processes of one host share: appended whole, in one order for all, and read by each as they come.
 * A full file is put aside under a name of its own, and the oldest of those are deleted, so that the folder stays small.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../src/host/errno.js';
import { openPlainFile } from '../../src/plainFile.js';

const CURRENT = 'sends.jsonl';
const FULL = /^sends\.\d+-\d+\.jsonl$/;
const FULL_BYTES = 512 * 1024;
const MOST_FULL = 7;
const APPEND = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW;

/** Of a first line, enough to tell it from all others. */
const HEAD_BYTES = 256;

/** How far a file was read. */
interface ReadFile {
  readonly bytes: number;
  /** How it begins: the file system gives a new file the number of one that was removed. */
  readonly head: Buffer;
}

interface Batch {
  readonly lines: string[];
  readonly written: Promise<void>;
}

export class SendFile {
  readonly #folder: string;
  readonly #fullBytes: number;
  /** By inode. */
  #read: ReadonlyMap<number, ReadFile> = new Map();
  /** Names of full files that nobody appends to any more, and of which every line was read. */
  #done: ReadonlySet<string> = new Set();
  #reading: Promise<unknown> = Promise.resolve();
  /** Lines for the next write, gathered while one is under way: they share its sync. */
  #next: Batch | null = null;
  #writing: Promise<unknown> = Promise.resolve();
  /** The file may end within a line, which the next one must not be glued to. */
  #mayBeTorn = true;

  /** @param folder made at the first line */
  constructor(folder: string, fullBytes: number = FULL_BYTES) {
    this.#folder = folder;
    this.#fullBytes = fullBytes;
  }

  /**
   * @param line without a line end
   * @returns when it is on the disk
   * @throws the file system's error; then it may be there or not
   */
  append(line: string): Promise<void> {
    if (this.#next !== null) {
      this.#next.lines.push(line);
      return this.#next.written;
    }
    const lines = [line];
    const written = this.#writing.then(() => {
      this.#next = null;
      return this.#write(lines);
    });
    this.#next = { lines, written };
    this.#writing = written.catch(() => undefined);
    return written;
  }

  /**
   * @returns the lines that were not read before, of all files, the oldest first; the last one may still be incomplete, and
   *   then comes with the next call
   * @throws the file system's error
   */
  unread(): Promise<string[]> {
    const lines = this.#reading.then(() => this.#readNew());
    this.#reading = lines.catch(() => undefined);
    return lines;
  }

  async #write(lines: readonly string[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, CURRENT);
    const file = await openPlainFile(path, APPEND, 0o600);
    try {
      const { size, ino, mtimeMs } = await file.stat();
      await this.#writeWhole(file, `${this.#mayBeTorn && size > 0 ? '\n' : ''}${lines.join('\n')}\n`);
      await file.sync();
      if (size > this.#fullBytes) await this.#putAside(path, `sends.${Math.trunc(mtimeMs)}-${ino}.jsonl`);
    } finally {
      await file.close();
    }
  }

  async #writeWhole(file: FileHandle, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    this.#mayBeTorn = true;
    const { bytesWritten } = await file.write(bytes);
    if (bytesWritten < bytes.length) throw new Error(`only ${bytesWritten} of ${bytes.length} bytes were written`);
    this.#mayBeTorn = false;
  }

  /** Two processes may do so at once: the second moves a file that is nearly new, which costs nothing but its name. */
  async #putAside(path: string, name: string): Promise<void> {
    await rename(path, join(this.#folder, name)).catch(unlessGone);
    const full = await this.#fullNames();
    for (const old of full.slice(0, Math.max(full.length - MOST_FULL, 0))) {
      await rm(join(this.#folder, old), { force: true });
    }
  }

  /** @returns the names of the full files, the oldest first */
  async #fullNames(): Promise<string[]> {
    const names = await readdir(this.#folder).catch((error: unknown) => unlessGone(error) ?? []);
    return names.filter((name) => FULL.test(name)).sort((one, other) => instantOf(one) - instantOf(other));
  }

  async #readNew(): Promise<string[]> {
    const lines: string[] = [];
    const read = new Map<number, ReadFile>();
    const done = new Set<string>();
    const full = await this.#fullNames();
    for (const name of [...full, CURRENT]) {
      if (this.#done.has(name)) {
        done.add(name);
        continue;
      }
      const file = await open(join(this.#folder, name), constants.O_RDONLY | constants.O_NOFOLLOW).catch(unlessGone);
      if (file === undefined) continue;
      try {
        const { ino, size } = await file.stat();
        // It was put aside between the list and this look, and is read under both names.
        if (read.has(ino)) continue;
        const found = await readOn(file, size, this.#read.get(ino));
        read.set(ino, found.place);
        lines.push(...found.lines);
        // Into the newest one somebody who had it open may still write.
        if (name !== CURRENT && name !== full.at(-1) && found.place.bytes === size) done.add(name);
      } finally {
        await file.close();
      }
    }
    // Only now: where one of the files cannot be read, the lines of the others come with the next call.
    this.#read = read;
    this.#done = done;
    return lines;
  }
}

/** @param before how far it was read, if it was */
async function readOn(
  file: FileHandle,
  size: number,
  before: ReadFile | undefined,
): Promise<{ place: ReadFile; lines: string[] }> {
  if (before !== undefined && !before.head.equals(await bytesAt(file, 0, before.head.length)))
    return readOn(file, size, undefined);
  const from = before?.bytes ?? 0;
  const bytes = await bytesAt(file, from, Math.max(size - from, 0));
  const whole = bytes.lastIndexOf('\n') + 1;
  const head =
    from > 0 && before !== undefined ? before.head : Buffer.from(bytes.subarray(0, Math.min(whole, HEAD_BYTES)));
  const lines = bytes.toString('utf8', 0, whole).split('\n');
  return { place: { bytes: from + whole, head }, lines: lines.filter((line) => line !== '') };
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  if (length === 0) return Buffer.alloc(0);
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, position);
  return bytes.subarray(0, bytesRead);
}

function instantOf(name: string): number {
  return Number(/\d+/.exec(name)?.[0] ?? 0);
}

function unlessGone(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
  return undefined;
}
