/**
 * Reads a journal as it grows: each check reads only lines appended since the last one.
 *
 * Between two checks it holds only an offset and the identity of the file, and during one at most one line ({@link
 * LONGEST_LINE_BYTES}). An incomplete line is read again at the next check. Unreadable lines are counted, never thrown: a
 * damaged journal must not stop the judgement of the others.
 *
 * The calls are synchronous, one chunk each: checking 10,000 journals costs 10,000 `lstat` of 2 µs; through the thread pool it
 * would cost a multiple. A caller with a long file gives way to other work between two chunks.
 */
import { fstatSync, lstatSync, type Stats } from 'node:fs';
import { describeError, isOwnTrouble } from '../errors.js';
import { READ_NO_LINK, withFileSync } from '../files/plainFile.js';
import { readAt } from '../files/readAt.js';
import { giveWay } from '../time.js';
import { FileTrace } from './fileTrace.js';
import { type JournalRecord, RecordLines } from './record.js';

/** Counted since the file's beginning. */
export interface JournalDiagnostics {
  /** Lines that are not a JSON object. */
  readonly garbage_lines: number;
  /** Lines longer than {@link LONGEST_LINE_BYTES} that are no object, or too long even without their long texts. */
  readonly oversized_lines: number;
  /** Lines longer than {@link LONGEST_LINE_BYTES} that were read without the rest of their long texts. */
  readonly cut_lines: number;
  /** Lines that a newer version wrote; they are skipped, because their meaning may have changed. */
  readonly newer_lines: number;
  /** How often the file was found truncated or replaced. */
  readonly restarts: number;
  /** Why the file cannot be read at all; null while it can, or while there has been none. */
  readonly refused: string | null;
}

export interface JournalBatch {
  readonly records: readonly JournalRecord[];
  /** The file was replaced or removed: all that was derived from it is void, and these records are its first. */
  readonly restarted: boolean;
  /** There is more to read now. */
  readonly more: boolean;
}

/** The source of a journal's lines: its file, or something that is translated into one. */
export interface JournalSource {
  readonly path: string;
  readonly diagnostics: JournalDiagnostics;
  /** Reads on, at most one chunk. Call again while `more`. */
  readBatch(): JournalBatch;
  /** Makes the next check start at the beginning. */
  rewind(): void;
  /**
   * @returns the lines that follow those read so far as long as nothing more is written; the same list until that changes. A
   *   journal has none: its lines are final
   */
  presumed?(): readonly JournalRecord[];
}

/** Reads to the source's present end, and gives way to other work after each chunk. */
export async function* batchesOf(source: JournalSource): AsyncGenerator<JournalBatch> {
  for (let batch = source.readBatch(); ; batch = source.readBatch()) {
    yield batch;
    if (!batch.more) return;
    await giveWay();
  }
}

/** The long texts of longer lines are cut (`longLine.ts`). Except for the last one, which holds the answer, no line of our journals is above 32 KiB. */
export const LONGEST_LINE_BYTES = 4 * 1024 * 1024;
/** Each costs eight calls of the system, and other work waits for it: a few milliseconds. */
const CHUNK_BYTES = 512 * 1024;
const NEWLINE = 0x0a;

const NOTHING: JournalBatch = { records: [], restarted: false, more: false };

export class JournalTail implements JournalSource {
  readonly path: string;
  readonly #longestLine: number;
  #offset = 0;
  readonly #trace = new FileTrace();
  /** The end of this check: a file that grows faster than it is read must not keep the reader for ever. */
  #end = 0;
  #isAmidLook = false;
  /** Size and time of the file when it was last read to its end; -1 while there is more to read. */
  #seenSize = -1;
  #seenModified = -1;
  /** The last line was taken before it had its newline. */
  #isUnfinished = false;
  #lines = new RecordLines();
  #restarts = 0;
  /** The file read before was removed or replaced. */
  #isGone = false;
  #refused: string | null = null;

  /**
   * @param path the journal; it need not exist yet
   * @param longestLineBytes longer lines are counted, and their long texts are cut
   */
  constructor(path: string, longestLineBytes = LONGEST_LINE_BYTES) {
    this.path = path;
    this.#longestLine = longestLineBytes;
  }

  get diagnostics(): JournalDiagnostics {
    return {
      garbage_lines: this.#lines.garbage,
      oversized_lines: this.#lines.oversized,
      cut_lines: this.#lines.cut,
      newer_lines: this.#lines.newer,
      restarts: this.#restarts,
      refused: this.#refused,
    };
  }

  /** Makes the next check start at the file's beginning. It does not count as a restart. */
  rewind(): void {
    this.#offset = 0;
    this.#trace.forget();
    this.#isAmidLook = false;
    this.#seenSize = -1;
    this.#isUnfinished = false;
    this.#lines = new RecordLines();
  }

  /**
   * Reads the appended lines, at most a chunk of them or one long line. Call again while `more`; lines that are appended during
   * the call are left to the next check.
   * @throws the file system's error if it cannot be read for a reason in this process, not in the file (no descriptors, no
   *   memory)
   */
  readBatch(): JournalBatch {
    const stat = this.#stat();
    if (stat === null) return this.#trace.isBlank ? NOTHING : this.#lose();
    this.#isGone = false;
    if (this.#isRead(stat)) return NOTHING;
    try {
      return this.#readOn();
    } catch (thrown) {
      if (isOwnTrouble(thrown)) throw thrown;
      this.#refused = describeError(thrown);
      return NOTHING;
    }
  }

  /** @returns false if {@link JournalTail.readBatch} would find nothing new; costs one `lstat` */
  hasNews(): boolean {
    const stat = this.#stat();
    if (stat === null) return !this.#trace.isBlank || this.#refused !== null;
    return !this.#isRead(stat);
  }

  #isRead(stat: Stats): boolean {
    return stat.size === this.#seenSize && stat.mtimeMs === this.#seenModified && this.#trace.isOf(stat);
  }

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
    return withFileSync(this.path, READ_NO_LINK, (descriptor) => {
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
    });
  }

  /** Whether the last line, taken without its newline, was continued differently: two objects on one line are invalid. */
  #wasHalfALine(descriptor: number, size: number): boolean {
    if (!this.#isUnfinished || this.#offset >= size) return false;
    this.#isUnfinished = false;
    return readAt(descriptor, this.#offset, 1)[0] !== NEWLINE;
  }

  #readLines(descriptor: number, size: number): { records: JournalRecord[]; more: boolean } {
    const records: JournalRecord[] = [];
    /** So that no line longer than allowed is ever whole in a chunk, wherever the last check ended. */
    let wanted = Math.min(CHUNK_BYTES, this.#longestLine + 1);
    while (this.#offset < size) {
      const chunk = readAt(descriptor, this.#offset, Math.min(wanted, size - this.#offset));
      if (chunk.length === 0) break;
      const end = chunk.lastIndexOf(NEWLINE);
      if (end >= 0) {
        this.#offset += this.#lines.takeWhole(chunk, end, records) + 1;
        return { records, more: this.#offset < size };
      }
      if (this.#lines.takesLong(chunk, this.#longestLine)) {
        this.#offset += chunk.length;
        const more = this.#offset < size;
        if (!more) this.#isUnfinished = this.#lines.takeUnfinishedLong(records);
        return { records, more };
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
