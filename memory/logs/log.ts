/**
 * A log that several processes write at once, without a lock.
 *
 * The order in the file decides. A writer reads the log to its end, and refuses what the state forbids. Otherwise it appends its
 * lines with one write and reads on until it meets them: the rules have applied them by then, or refused them, because another
 * writer was first. So every reader reaches the same state, and a kill at any instant leaves a valid beginning.
 */
import { UnreachableError } from '../../src/errors.js';
import { MAKE_ROOM } from '../../src/files/storageFault.js';
import type { LogKind, Refusal } from './kind.js';
import { type Line, type NewLine, type Stamp, stampLine, textOfLine } from './line.js';
import { appendTo, closeLogFile, type LogFile, openLogFile, requireReadable, sizeOfLog, unusable } from './logFile.js';
import { NewerVersionError } from './newerLog.js';
import { type LogCounts, LogReader } from './reader.js';

/** How often lines are written again that were lost: each time, another writer must have died within a line. */
const MOST_WRITES = 16;

export interface WriteOptions {
  /** Facts are written even to a log that a newer version has written to; decisions are not. */
  readonly isFact?: boolean;
  /** Whether the lines must survive a power failure. True if missing. */
  readonly isDurable?: boolean;
}

/** @typeParam Events of its writers; without them it is only read */
export class Log<State, Events = never> {
  readonly path: string;
  readonly #file: LogFile;
  readonly #kind: LogKind<State, Events>;
  readonly #reader: LogReader<State>;
  /** The length of the file, as far as it was read or appended here. */
  #end = 0;

  private constructor(path: string, file: LogFile, kind: LogKind<State, Events>, reader: LogReader<State>) {
    this.path = path;
    this.#file = file;
    this.#kind = kind;
    this.#reader = reader;
    this.#end = reader.position;
  }

  /**
   * Begins a log, whose folder exists.
   * @returns null if there is one already
   * @throws UnreachableError if it cannot be created
   */
  static begin<State, Events>(path: string, kind: LogKind<State, Events>): Log<State, Events> | null {
    const file = openLogFile(path, 'begin');
    return file === null ? null : new Log(path, file, kind, new LogReader(kind));
  }

  /**
   * @param earlier the same log, closed, if it was read before: only what followed is read, and its state is continued
   * @returns the log, read to its end; null if there is none
   * @throws UnreachableError if it cannot be opened for writing
   */
  static open<State, Events>(
    path: string,
    kind: LogKind<State, Events>,
    earlier?: Log<State, Events>,
  ): Log<State, Events> | null {
    return Log.#read(path, openLogFile(path, 'write'), kind, earlier);
  }

  /** As {@link open}; a log that its user may only read takes no line. @throws UnreachableError if it cannot be read either */
  static openOrRead<S, Events>(
    path: string,
    kind: LogKind<S, Events>,
    earlier?: Log<S, Events>,
  ): Log<S, Events> | null {
    return Log.#read(path, openLogFile(path, 'write or read'), kind, earlier);
  }

  /**
   * Opens it only to be read, and closes it at once.
   * @param earlier as of {@link open}
   * @returns the log as it is now; null if there is none
   * @throws UnreachableError if it cannot be read
   */
  static read<State, Events>(
    path: string,
    kind: LogKind<State, Events>,
    earlier?: Log<State, Events>,
  ): Log<State, Events> | null {
    const read = Log.#read(path, openLogFile(path, 'read'), kind, earlier);
    read?.close();
    return read;
  }

  static #read<State, Events>(
    path: string,
    file: LogFile | null,
    kind: LogKind<State, Events>,
    earlier?: Log<State, Events>,
  ): Log<State, Events> | null {
    if (file === null) return null;
    try {
      const known = earlier === undefined ? null : earlier.#readerOf(file);
      const log = new Log(path, file, kind, known ?? new LogReader(kind));
      log.#readTo(requireReadable(path, file.size), new Map());
      return log;
    } catch (error) {
      closeLogFile(file);
      throw unusable(path, error);
    }
  }

  /** A log only grows, unless another file was put in its place. Then nothing that was read counts. */
  #readerOf({ file, size }: LogFile): LogReader<State> | null {
    return this.#file.file === file && this.#reader.position <= size ? this.#reader : null;
  }

  get state(): State {
    return this.#reader.state;
  }

  get counts(): Readonly<LogCounts> {
    return this.#reader.counts;
  }

  /** Bytes up to the last line end. */
  get at(): number {
    return this.#reader.at;
  }

  /** Whether lines were appended here. */
  get hasWritten(): boolean {
    return this.#file.appended > 0;
  }

  /** Whether this process alone has written to the log. @throws UnreachableError if its size cannot be read */
  get isAlone(): boolean {
    return this.#size() === this.#file.appended;
  }

  /** Reads the lines that were appended after the last read. @throws UnreachableError if it cannot be read */
  refresh(): void {
    this.#readOn(new Map());
  }

  /**
   * Appends what `decide` makes of the present state, and learns what became of it.
   * @param decide takes the state as it is now. An empty list means that what is asked for already holds, and writes nothing.
   *   It throws `RefusedError` for what the state forbids
   * @returns for each line why it was refused; null if it was applied
   * @throws NewerVersionError if a newer version has written to the log; UsageError for a line that is too long
   * @throws UnreachableError if the lines are not, or not wholly, on the disk
   */
  write(
    decide: (state: State) => readonly NewLine<Events>[],
    stamp: Stamp,
    { isFact = false, isDurable = true }: WriteOptions = {},
  ): (Refusal | null)[] {
    this.refresh();
    if (this.counts.newer > 0 && !isFact) throw new NewerVersionError(this.path, 'change it');
    const common = this.#kind.common?.(this.state);
    const lines = decide(this.state).map((line) => stampLine({ ...common, ...line }, stamp));
    const outcomes = this.#put(lines, isDurable, () => false);
    return lines.map(({ id }) => outcomes.get(id) ?? null);
  }

  /**
   * Appends facts without fsync. As long as no other process writes, they are not read back, and {@link state} lacks them until the
   * next {@link write}.
   * @throws UsageError for a line that is too long
   * @throws UnreachableError as {@link write}
   */
  append(lines: readonly NewLine<Events>[], stamp: Stamp): void {
    const isAsKnown = () => this.#size() === this.#end;
    if (!isAsKnown()) this.refresh();
    const stamped = lines.map((line) => stampLine(line, stamp));
    this.#put(stamped, false, isAsKnown);
  }

  get isOpen(): boolean {
    return this.#file.descriptor >= 0;
  }

  /** Does nothing if it is closed already. */
  close(): void {
    closeLogFile(this.#file);
  }

  /**
   * Appends the lines until each is found, because a line can be lost behind a torn one of another writer.
   * @param isCertain asked after each write: whether they are there without being looked for
   * @returns what became of each line that was found
   */
  #put(lines: readonly Line[], isDurable: boolean, isCertain: () => boolean): Map<string, Refusal | null> {
    const texts = lines.map(textOfLine);
    const outcomes = new Map<string, Refusal | null>();
    for (let count = 0; count < MOST_WRITES; count += 1) {
      const missing = texts.filter((_, index) => !outcomes.has(lines[index]?.id ?? ''));
      if (missing.length === 0) return outcomes;
      const bytes = this.#append(missing.join(''), isDurable);
      if (isCertain()) return outcomes;
      this.#readOn(outcomes, bytes);
    }
    throw new UnreachableError(`lines cannot be found again in ${this.path}, though they were written; ${MAKE_ROOM}`);
  }

  /**
   * @param outcomes takes what became of each line that is read
   * @param appended what was written here just now
   */
  #readOn(outcomes: Map<string, Refusal | null>, appended?: Buffer): void {
    try {
      this.#readTo(this.#size(), outcomes, appended);
    } catch (error) {
      throw unusable(this.path, error);
    }
  }

  #readTo(size: number, outcomes: Map<string, Refusal | null>, appended?: Buffer): void {
    const reader = this.#reader;
    const seen = ({ id }: Line, refusal: Refusal | null) => outcomes.set(id, refusal);
    // No other process has written in between if the file is as long as what was read and what was appended.
    if (appended !== undefined && size === reader.position + appended.length) reader.take(appended, seen);
    else reader.readOn(this.#file.descriptor, size, seen);
    this.#end = reader.position;
  }

  #size(): number {
    return sizeOfLog(this.path, this.#file.descriptor);
  }

  #append(text: string, isDurable: boolean): Buffer {
    const isTorn = this.#end === this.#reader.position && this.#reader.isTorn;
    const bytes = Buffer.from(isTorn ? `\n${text}` : text);
    appendTo(this.path, this.#file, bytes, isDurable);
    this.#end += bytes.length;
    return bytes;
  }
}
