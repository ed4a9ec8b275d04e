/**
 * Lines in a folder that processes of one host share: appended whole, in one order for all, and read by each as they come. The
 * files have numbers. A process that finds the newest one full makes the next, which only one process can do; a file that
 * another process may still write to is never moved. Older files are folded into one, without obsolete lines and with the
 * newest of the rest, so that the folder stays small.
 *
 * Limit: if a process is stopped between opening a file and writing to it, while another one fills that file and writes to the
 * next, its line comes before lines that it has not seen. Two claims of one part may then both count as the first.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, nullIfAbsent } from '../../src/errors.js';
import { replaceDurably, syncFolder } from '../../src/files/durableFile.js';
import { LineAppender } from '../../src/files/lineAppender.js';
import { linesFrom } from '../../src/files/lines.js';
import { openPlainFile } from '../../src/files/plainFile.js';
import { foldedLines, newestLines } from './sendLine.js';

const FIRST = 'sends.jsonl';
/** A second number comes from an older version. */
const NAME = /^sends(?:\.(\d+)(?:-\d+)?)?\.jsonl$/;
const FULL_BYTES = 512 * 1024;
/** If folding fails again and again. */
const MOST_FILES = 8;
/** A process that had the one before the newest open may still write to it. */
const WRITTEN = 2;
/** The newest files, which are left alone: every process should have read a file to its end before it is folded. */
const LEFT_ALONE = 3;
/** The size of the file that older ones are folded into. Together with those left alone the folder holds 4 MiB. */
const FOLDED_FILES = 5;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
const APPEND = constants.O_APPEND | constants.O_RDWR | constants.O_NOFOLLOW;
const MAKE = APPEND | constants.O_CREAT | constants.O_EXCL;

/** How much is kept of the last text read: enough to distinguish it from every other place. */
const LAST_BYTES = 256;

interface ReadFile {
  readonly bytes: number;
  /** The content just before that place: another file may have taken the name. */
  readonly last: Buffer;
  readonly isDone: boolean;
}

interface Batch {
  readonly lines: string[];
  readonly written: Promise<void>;
}

export class SendFile {
  readonly #folder: string;
  readonly #fullBytes: number;
  /** By name. */
  #read: ReadonlyMap<string, ReadFile> = new Map();
  #reading: Promise<unknown> = Promise.resolve();
  /** Lines for the next write, gathered while one is in progress: they share its sync. */
  #next: Batch | null = null;
  #writing: Promise<unknown> = Promise.resolve();
  readonly #lines = new LineAppender({ isShared: true });

  /** @param folder made at the first line */
  constructor(folder: string, fullBytes: number = FULL_BYTES) {
    this.#folder = folder;
    this.#fullBytes = fullBytes;
  }

  /** @returns when the line is on the disk @throws the file system's error; then it may be there or not */
  append(line: string): Promise<void> {
    this.#next ??= this.#beginBatch();
    this.#next.lines.push(line);
    return this.#next.written;
  }

  /** The oldest first; the last line may be incomplete, and then comes with the next call. @throws the file system's error */
  unread(): Promise<string[]> {
    const lines = this.#reading.then(() => this.#readNew());
    this.#reading = lines.catch(() => undefined);
    return lines;
  }

  #beginBatch(): Batch {
    const lines: string[] = [];
    const written = this.#writing.then(() => {
      this.#next = null;
      return this.#write(lines);
    });
    this.#writing = written.catch(() => undefined);
    return { lines, written };
  }

  async #write(lines: readonly string[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const { path, file, isNew } = await this.#openNewest();
    try {
      this.#lines.use(path, file.fd);
      this.#lines.append(`${lines.join('\n')}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    if (isNew) await this.#clearUp();
  }

  /** @returns the newest file; if that is full, the next one, `isNew` for the one process that has made it */
  async #openNewest() {
    const newest = (await this.#names()).at(-1);
    if (newest === undefined) return this.#make(FIRST);
    const path = join(this.#folder, newest);
    const file = await openPlainFile(path, APPEND);
    if ((await file.stat()).size <= this.#fullBytes) return { path, file, isNew: false };
    await file.close();
    return this.#make(`sends.${numberOf(newest) + 1}.jsonl`);
  }

  async #make(name: string) {
    const path = join(this.#folder, name);
    try {
      const file = await openPlainFile(path, MAKE, 0o600);
      await syncFolder(this.#folder);
      return { path, file, isNew: true };
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
      return { path, file: await openPlainFile(path, APPEND), isNew: false };
    }
  }

  async #clearUp(): Promise<void> {
    try {
      await this.#fold(await this.#names());
    } finally {
      const names = await this.#names();
      await this.#remove(names.slice(0, Math.max(names.length - MOST_FILES, 0)));
    }
  }

  /** Two processes may do so at once: the one that finds a file gone leaves it to the other. Both write the same. */
  async #fold(names: readonly string[]): Promise<void> {
    const older = [...names];
    const left = older.splice(Math.max(names.length - LEFT_ALONE, 0));
    const into = older.pop();
    if (into === undefined || older.length === 0) return;
    const [removed, replaced, later] = await Promise.all([older, [into], left].map((some) => this.#linesOf(some)));
    if (removed == null || replaced == null || later == null) return;
    const lines = newestLines(foldedLines(removed, replaced, later), FOLDED_FILES * this.#fullBytes);
    await replaceDurably(join(this.#folder, into), lines.map((line) => `${line}\n`).join(''));
    await this.#remove(older);
  }

  /** @returns null if one of the files is gone */
  async #linesOf(names: readonly string[]): Promise<string[] | null> {
    const lines: string[] = [];
    for (const name of names) {
      const text = await readFile(join(this.#folder, name), { encoding: 'utf8', flag: READ }).catch(nullIfAbsent);
      if (text === null) return null;
      lines.push(...text.split('\n').filter((line) => line !== ''));
    }
    return lines;
  }

  async #remove(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(join(this.#folder, name), { force: true });
  }

  async #names(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(nullIfAbsent);
    return (names ?? []).filter((name) => NAME.test(name)).sort((one, other) => numberOf(one) - numberOf(other));
  }

  async #readNew(): Promise<string[]> {
    const lines: string[] = [];
    const read = new Map<string, ReadFile>();
    const names = await this.#names();
    for (const [place, name] of names.entries()) {
      const before = this.#read.get(name);
      if (before?.isDone) {
        read.set(name, before);
        continue;
      }
      const file = await open(join(this.#folder, name), READ).catch(nullIfAbsent);
      if (file === null) continue;
      try {
        const { size } = await file.stat();
        const { bytes, last } = await readOn(file, before, lines);
        read.set(name, { bytes, last, isDone: place < names.length - WRITTEN && bytes >= size });
      } finally {
        await file.close();
      }
    }
    // Only now: if one of the files cannot be read, the lines of the others come with the next call.
    this.#read = read;
    return lines;
  }
}

/** Adds the whole lines after the place up to which the file was read. @returns how far it is read now */
async function readOn(file: FileHandle, before: ReadFile | undefined, lines: string[]) {
  let bytes = before?.bytes ?? 0;
  if (before?.last.equals(await bytesBefore(file, bytes)) === false) bytes = 0;
  for await (const line of linesFrom(file, bytes)) {
    if (!line.whole) break;
    lines.push(line.text);
    bytes = line.end;
  }
  return { bytes, last: await bytesBefore(file, bytes) };
}

async function bytesBefore(file: FileHandle, end: number): Promise<Buffer> {
  const length = Math.min(end, LAST_BYTES);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(LAST_BYTES), 0, length, end - length);
  return buffer.subarray(0, bytesRead);
}

function numberOf(name: string): number {
  return Number(NAME.exec(name)?.[1] ?? 0);
}
