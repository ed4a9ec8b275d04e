/** Folds a log into its state as the log grows. Lines that cannot be read are counted and stay where they are. */
import { LineSplitter } from '../../src/files/lines.js';
import { readAt } from '../../src/files/readAt.js';
import type { LogKind, Refusal } from './kind.js';
import { type Line, LOG_VERSION, LONGEST_LINE_BYTES, parseLine } from './line.js';

const CHUNK_BYTES = 64 * 1024;
const OPENING_BRACE = 0x7b;

export interface LogCounts {
  /** With a line end, and not blank. */
  lines: number;
  applied: number;
  refused: number;
  /** No line of a log, or too long. */
  unreadable: number;
  /** Written by a newer version, whose meaning is unknown here. */
  newer: number;
}

type Seen = (line: Line, refusal: Refusal | null) => void;

export class LogReader<State> {
  readonly state: State;
  readonly counts: LogCounts = { lines: 0, applied: 0, refused: 0, unreadable: 0, newer: 0 };
  readonly #kind: Pick<LogKind<State>, 'begin' | 'apply'>;
  readonly #splitter = new LineSplitter(LONGEST_LINE_BYTES);
  readonly #ids = new Set<string>();
  /** As every writer writes it; in a text, its quotes would be escaped. */
  readonly #mark: string;
  #position = 0;
  /** After the last line end. */
  #at = 0;

  /** @param only an event: all other lines are passed over, and in none of the counts. Null for all events */
  constructor(kind: Pick<LogKind<State>, 'begin' | 'apply'>, only: string | null = null) {
    this.#kind = kind;
    this.#mark = only === null ? '' : `"event":${JSON.stringify(only)}`;
    this.state = kind.begin();
  }

  /** Where the next byte is read. */
  get position(): number {
    return this.#position;
  }

  /** Bytes up to the last line end. */
  get at(): number {
    return this.#at;
  }

  /** The file ends within a line. */
  get isTorn(): boolean {
    return this.#position > this.#at;
  }

  /**
   * @param descriptor of the log, open for reading
   * @param size to which it is read, in bytes. Its present size, or less
   * @param seen called with each line of this version, and why it was refused; null if it was applied
   * @throws the file system's error
   */
  readOn(descriptor: number, size: number, seen: Seen = () => undefined): void {
    while (this.#position < size) {
      const wanted = Math.min(CHUNK_BYTES, size - this.#position);
      const chunk = readAt(descriptor, this.#position, wanted);
      // A copy: the splitter keeps the beginning of a line, and the bytes of `readAt` are shared.
      if (chunk.length > 0) this.take(Buffer.from(chunk), seen);
      // It was cut meanwhile.
      if (chunk.length < wanted) return;
    }
  }

  /**
   * @param bytes which follow in the file; they are kept until their lines are complete
   * @param seen as of {@link readOn}
   */
  take(bytes: Buffer, seen: Seen): void {
    this.#position += bytes.length;
    for (const split of this.#splitter.push(bytes)) {
      this.#at += split.bytes + 1;
      if (split.kind === 'line') this.#take(split.text, seen);
      else this.#count('unreadable');
    }
  }

  #take(text: string, seen: Seen): void {
    if (!text.includes(this.#mark)) return;
    if (text.charCodeAt(0) !== OPENING_BRACE && text.trim() === '') return;
    const line = parseLine(text);
    if (line === null || line.v > LOG_VERSION) {
      this.#count(line === null ? 'unreadable' : 'newer');
      return;
    }
    // A writer that did not find its line has written it again.
    if (this.#ids.has(line.id)) return;
    this.#ids.add(line.id);
    const refusal = this.#kind.apply(this.state, line);
    this.#count(refusal === null ? 'applied' : 'refused');
    seen(line, refusal);
  }

  #count(what: 'applied' | 'refused' | 'unreadable' | 'newer'): void {
    this.counts.lines += 1;
    this.counts[what] += 1;
  }
}
