/** Transcripts that grow bit by bit in a test, and what a follower has given out of them. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { JournalRecord } from '../../../src/journal/record.js';
import { systemClock } from '../../../src/time.js';
import { type FollowOptions, TranscriptFollower } from '../../../src/transcripts/transcriptFollower.js';
import { testFolder } from '../../harness/folder.js';
import { RECORDED } from './told.js';

/** One recorded session: its files, by their path from the folder of its transcript. */
export interface RecordedSession {
  readonly name: string;
  readonly files: ReadonlyMap<string, Buffer>;
}

/** @param name of the transcript, from the folder of recordings */
export function recordedSession(name: string): RecordedSession {
  const folder = dirname(join(RECORDED, name));
  const own = relative(folder, join(RECORDED, name));
  const beside = own.replace(/\.jsonl$/, '');
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((file) => file.startsWith(`${beside}/`));
  return { name, files: new Map([own, ...names.sort()].map((file) => [file, readFileSync(join(folder, file))])) };
}

/** @returns the names of all recorded transcripts of sessions */
export function recordedNames(): string[] {
  return readdirSync(RECORDED, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl') && !entry.name.startsWith('agent-'))
    .map((entry) => relative(RECORDED, join(entry.parentPath, entry.name)))
    .sort();
}

/** A copy of a session that is written as the test goes on. */
export class GrowingSession {
  readonly path: string;
  readonly #folder = testFolder();
  readonly #left = new Map<string, Buffer>();

  constructor({ files }: RecordedSession) {
    this.path = join(this.#folder, [...files.keys()][0] ?? '');
    for (const [file, bytes] of files) this.#left.set(file, bytes);
  }

  /** Files of which there is more to write. */
  get unfinished(): string[] {
    return [...this.#left.keys()];
  }

  /** The lines of all transcripts as their programs wrote them, one after the other; other files come first. */
  get lines(): { readonly file: string; readonly bytes: number }[] {
    const lines = [...this.#left].flatMap(([file, bytes]) =>
      file.endsWith('.jsonl') ? linesIn(file, bytes) : [{ file, bytes: bytes.length, time: 0 }],
    );
    return lines.sort((left, right) => left.time - right.time);
  }

  /** Appends the next bytes of a file. */
  grow(file: string, bytes: number): void {
    const left = this.#left.get(file) ?? Buffer.alloc(0);
    const path = join(this.#folder, file);
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, left.subarray(0, bytes));
    if (bytes >= left.length) this.#left.delete(file);
    else this.#left.set(file, left.subarray(bytes));
  }

  /** Writes something else in a file's place, through the same inode. */
  rewrite(file: string, content: string): void {
    writeFileSync(join(this.#folder, file), content);
  }
}

/** Lines with the time at which they were written: not before any other above them. */
function linesIn(
  file: string,
  bytes: Buffer,
): { readonly file: string; readonly bytes: number; readonly time: number }[] {
  let time = 0;
  return (bytes.toString('utf8').match(/[^\n]*\n/g) ?? []).map((line) => {
    const { timestamp } = JSON.parse(line) as { readonly timestamp?: string };
    time = Math.max(time, Date.parse(timestamp ?? '') || 0);
    return { file, bytes: Buffer.byteLength(line), time };
  });
}

/** Reads with a follower and keeps what it gave. */
export class FollowedLines {
  readonly follower: TranscriptFollower;
  /** Given out so far. */
  given: JournalRecord[] = [];
  /** How often everything was void. */
  restarts = 0;

  constructor(path: string, options: Partial<FollowOptions> = {}) {
    this.follower = new TranscriptFollower(path, { clock: systemClock, ...options });
  }

  /** @returns all lines as they are now, those that are only presumed last */
  read(): JournalRecord[] {
    for (let more = true; more; ) {
      const batch = this.follower.readBatch();
      if (batch.restarted) {
        this.restarts += 1;
        this.given = [];
      }
      this.given.push(...batch.records);
      more = batch.more;
    }
    return [...this.given, ...this.follower.presumed()];
  }
}
