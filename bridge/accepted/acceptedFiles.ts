/**
 * The files of the register: `accepted.{number}.jsonl`, appended to by every process that accepts or delivers messages of the
 * logs folder. Only a bridge begins a new file, with a line for each open message. So the two newest files together always say
 * everything, and older ones are removed.
 *
 * Nothing is synced, because a killed process loses no line that it wrote, and the register costs an accepted message one write.
 * Limit: a power failure may lose the lines of the last seconds.
 */
import { closeSync, fstatSync, readdirSync, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { nullIfAbsent } from '../../src/errors.js';
import { LineAppender } from '../../src/files/lineAppender.js';
import { linesFrom } from '../../src/files/lines.js';
import { READ_NO_LINK } from '../../src/files/plainFile.js';
import { makePrivateFolderSync, openToAppendSync } from '../../src/files/privateFiles.js';

const NAME = /^accepted\.(\d+)\.jsonl$/;
/** A file is full when it has grown by so much since it was begun. */
const FULL_BYTES = 512 * 1024;
const KEPT_FILES = 2;

export class AcceptedFiles {
  readonly #folder: string;
  readonly #lines = new LineAppender({ isShared: true });
  #descriptor: number | null = null;
  #path = '';
  #beganWithBytes = 0;
  #wasLost = false;
  #read: ReadonlyMap<string, number> = new Map();

  /** @param folder made with the first line */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param lines each with its line end @throws the file system's error; then some of them may be there */
  append(lines: string): void {
    try {
      this.#leaveLost();
      if (this.#descriptor === null) this.#use(this.#names().at(-1) ?? nameOf(1));
      this.#lines.append(lines);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Begins a new file with the open messages, and removes the oldest ones. @throws the file system's error */
  async begin(lines: string): Promise<void> {
    const names = this.#names();
    const newest = names.at(-1);
    this.close();
    this.#use(nameOf(newest === undefined ? 1 : numberOf(newest) + 1));
    if (lines !== '') this.#lines.append(lines);
    this.#beganWithBytes = Buffer.byteLength(lines);
    this.#wasLost = false;
    const old = names.slice(0, Math.max(names.length + 1 - KEPT_FILES, 0));
    for (const name of old) await rm(join(this.#folder, name), { force: true });
  }

  /** The file is full, or was taken away, and earlier lines with it. */
  get mustBeginAgain(): boolean {
    this.#leaveLost();
    if (this.#descriptor === null) return this.#wasLost;
    return this.#wasLost || fstatSync(this.#descriptor).size - this.#beganWithBytes > FULL_BYTES;
  }

  /** @returns the whole lines that were not read before, oldest first @throws the file system's error */
  async unread(): Promise<string[]> {
    const lines: string[] = [];
    const read = new Map<string, number>();
    for (const name of this.#names()) {
      const file = await open(join(this.#folder, name), READ_NO_LINK).catch(nullIfAbsent);
      if (file === null) continue;
      try {
        const before = this.#read.get(name) ?? 0;
        // Another file may have taken the name.
        let at = (await file.stat()).size < before ? 0 : before;
        for await (const line of linesFrom(file, at)) {
          if (!line.whole) break;
          lines.push(line.text);
          at = line.end;
        }
        read.set(name, at);
      } finally {
        await file.close();
      }
    }
    // Only now: if one of the files cannot be read, the lines of the others come with the next call.
    this.#read = read;
    return lines;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #use(name: string): void {
    makePrivateFolderSync(this.#folder);
    this.#path = join(this.#folder, name);
    this.#descriptor = openToAppendSync(this.#path);
    this.#lines.use(this.#path, this.#descriptor);
  }

  /** A bridge removes old files, and an operator may remove all of them, or rename a folder above and make a new one. */
  #leaveLost(): void {
    if (this.#descriptor === null) return;
    const ours = fstatSync(this.#descriptor);
    const there = statSync(this.#path, { throwIfNoEntry: false });
    if (there?.ino === ours.ino && there.dev === ours.dev) return;
    this.close();
    this.#wasLost = true;
    this.#read = new Map();
  }

  #names(): string[] {
    const names = namesIn(this.#folder).filter((name) => NAME.test(name));
    return names.sort((one, other) => numberOf(one) - numberOf(other));
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    return nullIfAbsent(error) ?? [];
  }
}

function nameOf(number: number): string {
  return `accepted.${number}.jsonl`;
}

function numberOf(name: string): number {
  return Number(NAME.exec(name)?.[1] ?? 0);
}
