/**
 * Lines in a folder that processes of one host share: appended whole, in one order for all, and read by each as they come.
 * A full file is put aside under a name of its own. The older ones of those become one, without what says nothing any more and
 * with the newest lines of the rest, so that the folder stays small.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceDurably } from '../../src/durableFile.js';
import { errorCode } from '../../src/host/errno.js';
import { openPlainFile } from '../../src/plainFile.js';
import { foldedLines, newestLines } from './sendFold.js';

const CURRENT = 'sends.jsonl';
const FULL = /^sends\.\d+-\d+\.jsonl$/;
const FULL_BYTES = 512 * 1024;
/** Where the folding fails again and again. */
const MOST_FULL = 7;
/** Full files that are left alone: somebody may still write into the newest, or be about to read them. */
const LEFT_ALONE = 2;
/** Of the one that older files are folded into. With it, those and the current file the folder holds 4 MiB. */
const FOLDED_FILES = 5;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
const APPEND = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW;

/** Of the end of what was read, enough to tell it from all other places. */
const LAST_BYTES = 256;

/** How far a file was read. */
interface ReadFile {
  readonly bytes: number;
  /** What stands before that place: the file system gives a new file the number of one that was removed. */
  readonly last: Buffer;
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
    try {
      await this.#fold(await this.#fullNames());
    } finally {
      const full = await this.#fullNames();
      await this.#remove(full.slice(0, Math.max(full.length - MOST_FULL, 0)));
    }
  }

  /** Two processes may do so at once: who finds a file gone leaves it to the other. What both write says the same. */
  async #fold(full: readonly string[]): Promise<void> {
    const older = [...full];
    const left = older.splice(Math.max(full.length - LEFT_ALONE, 0));
    const into = older.pop();
    if (into === undefined || older.length === 0) return;
    const [removed, replaced, later] = await Promise.all([older, [into], left].map((names) => this.#linesOf(names)));
    if (removed == null || replaced == null || later == null) return;
    const lines = newestLines(foldedLines(removed, replaced, later), FOLDED_FILES * this.#fullBytes);
    await replaceDurably(join(this.#folder, into), lines.map((line) => `${line}\n`).join(''));
    await this.#remove(older);
  }

  /** @returns null where one of the files is gone */
  async #linesOf(names: readonly string[]): Promise<string[] | null> {
    const lines: string[] = [];
    for (const name of names) {
      const text = await readFile(join(this.#folder, name), { encoding: 'utf8', flag: READ }).catch(unlessGone);
      if (text === undefined) return null;
      lines.push(...text.split('\n').filter((line) => line !== ''));
    }
    return lines;
  }

  async #remove(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(join(this.#folder, name), { force: true });
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
      const file = await open(join(this.#folder, name), READ).catch(unlessGone);
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
  if (
    before !== undefined &&
    !before.last.equals(await bytesAt(file, before.bytes - before.last.length, before.last.length))
  )
    return readOn(file, size, undefined);
  const from = before?.bytes ?? 0;
  const bytes = await bytesAt(file, from, Math.max(size - from, 0));
  const whole = bytes.lastIndexOf('\n') + 1;
  const last = whole > 0 || before === undefined ? bytes.subarray(Math.max(whole - LAST_BYTES, 0), whole) : before.last;
  const lines = bytes.toString('utf8', 0, whole).split('\n');
  return { place: { bytes: from + whole, last: Buffer.from(last) }, lines: lines.filter((line) => line !== '') };
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
