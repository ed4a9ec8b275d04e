/** Lines of a journal, or of another program's transcript, as JSON. */
import { isAscii } from 'node:buffer';
import { LongLine } from './longLine.js';
import { JOURNAL_VERSION } from './schema.js';
import { mayBeShared, recordsOn } from './sharedLine.js';

/** An object with unknown fields. */
export type JournalRecord = Readonly<Record<string, unknown>>;

const NEWLINE = 0x0a;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const [QUOTE, COLON] = [0x22, 0x3a];
/** Small enough for its text to be short-lived memory: twice the size costs half as much again. */
const PART_BYTES = 64 * 1024;
/** In bytes. No relevant line begins with a space, a zero left by a crashed file system, or a byte order mark. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: zeros are what is looked for
const BEFORE_INK = /^(?:\u00ef\u00bb\u00bf|[\u0000-\u0020])+/;
/** As {@link BEFORE_INK}, in letters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: zeros are what is looked for
const BEFORE_LETTERS = /^[\ufeff\u0000-\u0020]+/;
/** After so many in one reading, other work gets its turn: the lines of a journal are long, and a damaged one has more of them. */
const MOST_LINES = 8_192;

/** A name, or the end, follows the brace. */
const OBJECT = /^\{\s*(?:\}|"[^"\\]*(?:\\.[^"\\]*)*"\s*:)/;

/** @returns the record; null if the text is not a JSON object that begins with its brace */
export function parseRecord(text: string): JournalRecord | null {
  if (!mayBeObject(text)) return null;
  try {
    return JSON.parse(text) as JournalRecord;
  } catch {
    return null;
  }
}

/** An error of the parser takes as long as the parsing of a page, and a damaged file may have millions of short lines. */
function mayBeObject(text: string): boolean {
  if (text.charCodeAt(0) !== OPENING_BRACE) return false;
  const hasEnd = text.charCodeAt(text.length - 1) === CLOSING_BRACE || text.trimEnd().endsWith('}');
  return hasEnd && (hasPlainName(text) || OBJECT.test(text));
}

/** As nearly every line: the pattern alone costs a fifteenth of all that a line does. */
function hasPlainName(text: string): boolean {
  return text.charCodeAt(1) === QUOTE && text.charCodeAt(text.indexOf('"', 2) + 1) === COLON;
}

/** Whether a newer version wrote the line. Only our own lines have both fields; other programs' may have their own `v`. */
export function isNewer({ v, event }: JournalRecord): boolean {
  return typeof v === 'number' && v > JOURNAL_VERSION && typeof event === 'string';
}

/** @returns a text that is not empty; otherwise null */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Extracts the records from a journal's bytes, and counts the invalid lines. */
export class RecordLines {
  garbage = 0;
  oversized = 0;
  cut = 0;
  newer = 0;
  /** Inside a line that is too long to be held. */
  #long: LongLine | null = null;

  /** Several lines are decoded at once, which is faster. @returns where the last line that was read ends */
  takeWhole(chunk: Buffer, end: number, records: JournalRecord[]): number {
    const start = this.#long === null ? 0 : chunk.indexOf(NEWLINE) + 1;
    if (this.#long !== null) this.#endLong(this.#long, chunk.subarray(0, start - 1), records);
    let to = start - 1;
    for (let lines = 0; to < end && lines < MOST_LINES; ) {
      const from = to + 1;
      to = endOfPart(chunk, from, end);
      lines += this.#takeLines(chunk.subarray(from, to), records);
    }
    return to;
  }

  /** ASCII is copied in a fraction of the time of decoding; other letters cost only their own line. @returns how many lines */
  #takeLines(bytes: Buffer, records: JournalRecord[]): number {
    const areAscii = isAscii(bytes);
    const lines = bytes.toString('latin1').split('\n');
    let from = 0;
    for (const line of lines) {
      const ink = line.charCodeAt(0) === OPENING_BRACE ? line : line.replace(BEFORE_INK, '');
      const to = from + line.length;
      if (ink.charCodeAt(0) === OPENING_BRACE || mayBeShared(ink)) {
        const part = areAscii ? null : bytes.subarray(to - ink.length, to);
        this.#takeObject(part === null || isAscii(part) ? ink : part.toString('utf8'), records);
      } else if (ink !== '') this.garbage += 1;
      from = to + 1;
    }
    return lines.length;
  }

  #takeObject(text: string, records: JournalRecord[]): void {
    const record = parseRecord(text);
    if (record !== null) this.#take(record, records);
    else if (mayBeShared(text)) this.#takeShared(text, records);
    else this.garbage += 1;
  }

  #takeShared(text: string, records: JournalRecord[]): void {
    const shared = recordsOn(text, parseRecord);
    if (shared.isTorn) this.garbage += 1;
    for (const record of shared.records) this.#take(record, records);
  }

  /** Reads a last line without a newline: no beginning of an object is itself an object. @returns whether it was taken */
  takeUnfinished(line: Buffer, records: JournalRecord[]): boolean {
    if (line[line.length - 1] !== CLOSING_BRACE) return false;
    const ink = line.length - line.toString('latin1').replace(BEFORE_INK, '').length;
    const text = line.toString('utf8', ink);
    const record = parseRecord(text);
    const shared = record === null && mayBeShared(text) ? recordsOn(text, parseRecord) : null;
    if (record !== null) this.#take(record, records);
    else if (shared === null || shared.records.length === 0) return false;
    else this.#takeShared(text, records);
    return true;
  }

  /** @returns whether the bytes belong to a line that is too long to be held, and are taken */
  takesLong(chunk: Buffer, longestLine: number): boolean {
    if (this.#long === null && chunk.length <= longestLine) return false;
    this.#long ??= new LongLine();
    this.#long.take(chunk);
    return true;
  }

  #endLong(long: LongLine, rest: Buffer, records: JournalRecord[]): void {
    this.#long = null;
    long.take(rest);
    if (!this.#takeCut(long.text(), records)) this.oversized += 1;
  }

  /**
   * At the end of the file, in a line that is too long to be held.
   * @returns whether it is complete, and was taken
   */
  takeUnfinishedLong(records: JournalRecord[]): boolean {
    const text = this.#long?.text() ?? null;
    if (text?.endsWith('}') !== true || !this.#takeCut(text, records)) return false;
    this.#long = null;
    return true;
  }

  #takeCut(text: string | null, records: JournalRecord[]): boolean {
    const ink = (text ?? '').replace(BEFORE_LETTERS, '');
    const record = parseRecord(ink);
    const shared = record === null && mayBeShared(ink) ? recordsOn(ink, parseRecord).records : [];
    const found = record === null ? shared : [record];
    if (found.length === 0) return false;
    this.cut += 1;
    for (const each of found) this.#take(each, records);
    return true;
  }

  #take(record: JournalRecord, records: JournalRecord[]): void {
    if (isNewer(record)) this.newer += 1;
    else records.push(record);
  }
}

/** @returns the last line end in the part that begins at `from`, or the first one behind it; `end` if there is none */
function endOfPart(chunk: Buffer, from: number, end: number): number {
  if (end - from <= PART_BYTES) return end;
  const last = chunk.lastIndexOf(NEWLINE, from + PART_BYTES);
  return last >= from ? last : chunk.indexOf(NEWLINE, from + PART_BYTES);
}
