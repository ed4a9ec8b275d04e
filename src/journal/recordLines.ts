/** Extracts the records from a journal's bytes, and counts the invalid lines. */
import { isAscii } from 'node:buffer';
import { isNewer, type JournalRecord, parseRecord } from './record.js';

const NEWLINE = 0x0a;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** No relevant line begins with a space, a zero left by a crashed file system, or a byte order mark. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: zeros are what is looked for
const BEFORE_INK = /^[\ufeff\u0000-\u0020]+/;

export class RecordLines {
  /** Lines that are not a JSON object. */
  garbage = 0;
  /** Lines that are too long. */
  oversized = 0;
  /** Lines that a newer version wrote. */
  newer = 0;
  /** Inside a line that is too long: its rest is skipped. */
  #isSkipping = false;

  /**
   * Reads the lines of the chunk up to the newline at `end`; decoded at once, which is faster than line by line.
   * @param records the results are added to them
   */
  takeWhole(chunk: Buffer, end: number, records: JournalRecord[]): void {
    const start = this.#isSkipping ? chunk.indexOf(NEWLINE) + 1 : 0;
    this.#isSkipping = false;
    for (const line of decode(chunk.subarray(start, end)).split('\n')) {
      const ink = line.charCodeAt(0) === OPENING_BRACE ? line : line.replace(BEFORE_INK, '');
      if (ink === '') continue;
      const record = parseRecord(ink);
      if (record === null) this.garbage += 1;
      else this.#take(record, records);
    }
  }

  /**
   * Reads the last line of the file, without a newline. An object that is complete without it is taken: no beginning of an
   * object is itself an object.
   * @returns whether it was taken
   */
  takeUnfinished(line: Buffer, records: JournalRecord[]): boolean {
    if (line[line.length - 1] !== CLOSING_BRACE) return false;
    const record = parseRecord(line.toString('utf8').replace(BEFORE_INK, ''));
    if (record === null) return false;
    this.#take(record, records);
    return true;
  }

  /** @returns whether the bytes belong to a line that is too long, and are skipped */
  skips(bytes: number, longestLine: number): boolean {
    if (!this.#isSkipping && bytes <= longestLine) return false;
    if (!this.#isSkipping) this.oversized += 1;
    this.#isSkipping = true;
    return true;
  }

  #take(record: JournalRecord, records: JournalRecord[]): void {
    if (isNewer(record)) this.newer += 1;
    else records.push(record);
  }
}

/** Most journals are ASCII, which is recognised and copied in a fraction of the time of decoding. */
function decode(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}
