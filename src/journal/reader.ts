/**
 * Reads a journal as it grows: each look reads only what was appended since the last one.
 *
 * Nothing of the file is held between two looks but an offset and the identity of the file, and at most one line
 * ({@link LONGEST_LINE_BYTES}) while looking. A line that is not finished yet is read again at the next look. What cannot
 * be read is counted, never thrown: a damaged journal must not stop the judgement of the others.
 *
 * The calls are synchronous, a chunk each: looking at 10,000 journals costs 10,000 `lstat` of 2 µs, which through the
 * thread pool would be a multiple. A caller with a long file gives way to others between two chunks.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';
import { errorCode } from '../errno.js';
import { describeError } from '../errors.js';
import { readAt } from '../files/readAt.js';
import { FileTrace } from './fileTrace.js';
import type { JournalRecord } from './record.js';
import { RecordLines } from './recordLines.js';

/** Counted since the file's beginning. */
export interface JournalDiagnostics {
  /** Lines that are no JSON object. */
  readonly garbage_lines: number;
  /** Lines longer than {@link LONGEST_LINE_BYTES}, passed over unread. */
  readonly oversized_lines: number;
  /** Lines that a newer version wrote; they are left out, for they may say something else than they seem to. */
  readonly newer_lines: number;
  /** How often the file was found truncated or replaced. */
  readonly restarts: number;
  /** Why the file cannot be read at all; null while it can, or while there has been none. */
  readonly refused: string | null;
}

export interface JournalBatch {
  readonly records: readonly JournalRecord[];
  /** What was derived from the file is void, these records are its first: it is another one, or has gone. */
  readonly restarted: boolean;
  /** There is more to read now. */
  readonly more: boolean;
}

/** Where the lines of a journal come from: its file, or something that is translated into one. */
export interface JournalSource {
  readonly path: string;
  readonly diagnostics: JournalDiagnostics;
  /** Reads on, a chunk at the most. Call again while `more`. */
  readBatch(): JournalBatch;
  /** Makes the next look begin at the beginning. */
  rewind(): void;
}

/** Longer lines are passed over: but for the last one, which holds the answer, no journal of ours has one above 32 KiB. */
export const LONGEST_LINE_BYTES = 4 * 1024 * 1024;
/** Small enough for its text to be short-lived memory: twice as much of it costs half as much again. */
const CHUNK_BYTES = 64 * 1024;
/** Errors that say nothing of the file: a journal is no less readable because others took all descriptors. */
const OWN_TROUBLES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);
const NEWLINE = 0x0a;

const NOTHING: JournalBatch = { records: [], restarted: false, more: false };

export class JournalTail implements JournalSource {
  readonly path: string;
  readonly #longestLine: number;
  #offset = 0;
  readonly #trace = new FileTrace();
  /** Where this look ends: a file that grows faster than it is read must not keep the reader for ever. */
  #end = 0;
  #isAmidLook = false;
  /** Size and time of the file when it was last read to its end; -1 while there is more to read. */
  #seenSize = -1;
  #seenModified = -1;
  /** The last line that was taken had no newline yet. */
  #isUnfinished = false;
  #lines = new RecordLines();
  #restarts = 0;
  /** What was read before has been removed, or something else stands in its place. */
  #isGone = false;
  #refused: string | null = null;

  /**
   * @param path the journal; it need not exist yet
   * @param longestLineBytes longer lines are counted and passed over
   */
  constructor(path: string, longestLineBytes = LONGEST_LINE_BYTES) {
    this.path = path;
    this.#longestLine = longestLineBytes;
  }

  get diagnostics(): JournalDiagnostics {
    return {
      garbage_lines: this.#lines.garbage,
      oversized_lines: this.#lines.oversized,
      newer_lines: this.#lines.newer,
      restarts: this.#restarts,
      refused: this.#refused,
    };
  }

  /** Makes the next look begin at the file's beginning. It does not count as a restart. */
  rewind(): void {
    this.#offset = 0;
    this.#trace.forget();
    this.#isAmidLook = false;
    this.#seenSize = -1;
    this.#isUnfinished = false;
    this.#lines = new RecordLines();
  }

  /**
   * Reads what was appended, at most a chunk of it or one long line. Call again while `more`; what is appended meanwhile is
   * for the next look.
   * @throws the file system's error where this process, not the file, is why it cannot be read (no descriptors, no memory)
   */
  readBatch(): JournalBatch {
    const stat = this.#stat();
    if (stat === null) return this.#trace.isBlank ? NOTHING : this.#lose();
    this.#isGone = false;
    if (this.#isRead(stat)) return NOTHING;
    try {
      return this.#readOn();
    } catch (thrown) {
      if (OWN_TROUBLES.has(errorCode(thrown))) throw thrown;
      this.#refused = describeError(thrown);
      return NOTHING;
    }
  }

  /** @returns false where {@link JournalTail.readBatch} would find nothing that it has not told; costs one `lstat` */
  hasNews(): boolean {
    const stat = this.#stat();
    if (stat === null) return !this.#trace.isBlank || this.#refused !== null;
    return !this.#isRead(stat);
  }

  #isRead(stat: Stats): boolean {
    return stat.size === this.#seenSize && stat.mtimeMs === this.#seenModified && this.#trace.isOf(stat);
  }

  /** The file that was read has gone. */
  #lose(): JournalBatch {
    this.rewind();
    this.#restarts += 1;
    this.#isGone = true;
    this.#refused ??= this.#removed();
    return { records: [], restarted: true, more: false };
  }

  #stat(): Stats | null {
    try {
      const stat = lstatSync(this.path, { throwIfNoEntry: false });
      if (stat === undefined) this.#refused = this.#isGone ? this.#removed() : null;
      else this.#refused = stat.isFile() ? null : `${this.path} is not a plain file`;
      return stat?.isFile() ? stat : null;
    } catch (thrown) {
      this.#refused = describeError(thrown);
      return null;
    }
  }

  #removed(): string {
    return `${this.path} was removed`;
  }

  #readOn(): JournalBatch {
    const descriptor = openSync(this.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(descriptor);
      const isReplaced = !this.#trace.isBlank && !this.#trace.continues(descriptor, stat, this.#offset);
      const restarted = isReplaced || this.#wasHalfALine(descriptor, stat.size);
      if (restarted) this.rewind();
      if (isReplaced) this.#restarts += 1;
      if (!this.#isAmidLook) this.#end = stat.size;
      const { records, more } = this.#readLines(descriptor, Math.min(this.#end, stat.size));
      this.#trace.remember(descriptor, stat, this.#offset);
      this.#isAmidLook = more;
      this.#seenSize = more ? -1 : this.#end;
      this.#seenModified = stat.mtimeMs;
      return { records, restarted, more };
    } finally {
      closeSync(descriptor);
    }
  }

  /** Whether the last line, taken without its newline, went on differently: two objects on one line are none. */
  #wasHalfALine(descriptor: number, size: number): boolean {
    if (!this.#isUnfinished || this.#offset >= size) return false;
    this.#isUnfinished = false;
    return readAt(descriptor, this.#offset, 1)[0] !== NEWLINE;
  }

  #readLines(descriptor: number, size: number): { records: JournalRecord[]; more: boolean } {
    const records: JournalRecord[] = [];
    /** So that no line longer than allowed is ever whole in a chunk, wherever the looks before ended. */
    let wanted = Math.min(CHUNK_BYTES, this.#longestLine + 1);
    while (this.#offset < size) {
      const chunk = readAt(descriptor, this.#offset, Math.min(wanted, size - this.#offset));
      if (chunk.length === 0) break;
      const end = chunk.lastIndexOf(NEWLINE);
      if (end >= 0) {
        this.#lines.takeWhole(chunk, end, records);
        this.#offset += end + 1;
        return { records, more: this.#offset < size };
      }
      if (this.#lines.skips(chunk.length, this.#longestLine)) {
        this.#offset += chunk.length;
        return { records, more: this.#offset < size };
      }
      if (this.#offset + chunk.length >= size) {
        this.#isUnfinished = this.#lines.takeUnfinished(chunk, records);
        if (this.#isUnfinished) this.#offset += chunk.length;
        break;
      }
      wanted = Math.min(wanted * 2, this.#longestLine + 1);
    }
    return { records, more: false };
  }
}
