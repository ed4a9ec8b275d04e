/**
 * One line that is too long to be held: its long texts are cut while it is read, and the rest stays as it was. Long are the contents
 * of files, outputs and pictures; what was asked, and of which call it is, stays.
 */
import { createHash, type Hash } from 'node:crypto';

/** In bytes. The texts of a prompt and the names of files are before that. */
const KEPT_OF_TEXT = 64 * 1024;
/** If many texts are long. */
const KEPT_OF_FURTHER_TEXT = 1024;
const MOST_BYTES_OF_LONG_TEXTS = 2 * 1024 * 1024;
/** A line that is longer than this after that is given up. */
const MOST_BYTES = 4 * 1024 * 1024;
/** The longest escape is `\uXXXX`, the longest letter has four bytes. */
const LONGEST_UNIT = 6;
const DIGEST_LENGTH = 16;

const [QUOTE, BACKSLASH, UNICODE, OPENING_BRACE] = [0x22, 0x5c, 0x75, 0x7b];

export class LongLine {
  readonly #parts: Buffer[] = [];
  #bytes = 0;
  #isGivenUp = false;
  #isInText = false;
  /** Whether the next byte is escaped by one of an earlier chunk. */
  #isEscaped = false;
  #keptOfText = 0;
  /** Digests the part of the present text that is left out; null as long as all of it is kept. */
  #cut: { bytes: number; readonly hash: Hash } | null = null;

  /** Takes the next bytes of the line. They are copied. */
  take(bytes: Buffer): void {
    if (this.#bytes === 0 && bytes.length > 0 && !beginsObject(bytes)) this.#giveUp();
    for (let at = 0; at < bytes.length && !this.#isGivenUp; )
      at = this.#isInText ? this.#takeText(bytes, at) : this.#takeBetween(bytes, at);
  }

  /** @returns the line with its texts cut; null if it is not an object, or still too long */
  text(): string | null {
    return this.#isGivenUp || this.#isInText ? null : Buffer.concat(this.#parts).toString('utf8');
  }

  /** @returns where the text begins, or the end */
  #takeBetween(bytes: Buffer, from: number): number {
    const quote = bytes.indexOf(QUOTE, from);
    const to = quote < 0 ? bytes.length : quote + 1;
    this.#keep(bytes.subarray(from, to));
    if (quote < 0) return to;
    this.#isInText = true;
    this.#keptOfText = 0;
    return to;
  }

  /** @returns where the text has ended, or the end */
  #takeText(bytes: Buffer, from: number): number {
    const quote = this.#endOfText(bytes, from);
    const to = quote < 0 ? bytes.length : quote;
    this.#takeWords(bytes.subarray(from, to));
    if (quote < 0) return to;
    if (this.#cut !== null) this.#keep(Buffer.from(markOf(this.#cut)));
    this.#cut = null;
    this.#keep(bytes.subarray(quote, quote + 1));
    this.#isInText = false;
    return quote + 1;
  }

  /** @returns the place of the quotation mark that ends the text; negative if it is not in these bytes */
  #endOfText(bytes: Buffer, from: number): number {
    const start = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    let quote = bytes.indexOf(QUOTE, start);
    while (quote >= 0 && slashesBefore(bytes, start, quote) % 2 === 1) quote = bytes.indexOf(QUOTE, quote + 1);
    if (quote < 0 && start <= bytes.length) this.#isEscaped = slashesBefore(bytes, start, bytes.length) % 2 === 1;
    return quote;
  }

  #takeWords(words: Buffer): void {
    if (this.#cut === null) {
      const most = this.#bytes > MOST_BYTES_OF_LONG_TEXTS ? KEPT_OF_FURTHER_TEXT : KEPT_OF_TEXT;
      const room = Math.max(most - this.#keptOfText, 2 * LONGEST_UNIT);
      if (words.length <= room) {
        this.#keptOfText += words.length;
        this.#keep(words);
        return;
      }
      const to = wholeUnits(words, room);
      this.#keep(words.subarray(0, to));
      this.#cut = { bytes: 0, hash: createHash('sha256') };
      words = words.subarray(to);
    }
    this.#cut.bytes += words.length;
    this.#cut.hash.update(words);
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#bytes += bytes.length;
    if (this.#bytes > MOST_BYTES) this.#giveUp();
    else this.#parts.push(Buffer.from(bytes));
  }

  #giveUp(): void {
    this.#isGivenUp = true;
    this.#parts.length = 0;
    this.#bytes = 1;
  }
}

function beginsObject(bytes: Buffer): boolean {
  const brace = bytes.indexOf(OPENING_BRACE);
  // A byte order mark or zeros of a crashed file system may come before it. They have no letters.
  return brace >= 0 && !/[!-~]/.test(bytes.toString('latin1', 0, brace));
}

/** Different texts stay different. */
function markOf({ bytes, hash }: { readonly bytes: number; readonly hash: Hash }): string {
  return `… [${bytes} bytes more, ${hash.digest('hex').slice(0, DIGEST_LENGTH)}]`;
}

/** @returns how many backslashes stand right before a place, not before `start` */
function slashesBefore(bytes: Buffer, start: number, place: number): number {
  let count = 0;
  while (place - count - 1 >= start && bytes[place - count - 1] === BACKSLASH) count += 1;
  return count;
}

/**
 * @param most at least twice the longest unit, because these bytes may begin within one
 * @returns where the last letter or escape ends that is whole within so many bytes
 */
function wholeUnits(bytes: Buffer, most: number): number {
  let to = most;
  while (to > most - LONGEST_UNIT && isWithinLetter(bytes[to])) to -= 1;
  const slash = bytes.subarray(0, to).lastIndexOf(BACKSLASH);
  if (slash < to - LONGEST_UNIT || slashesBefore(bytes, 0, slash + 1) % 2 === 0) return to;
  return slash + (bytes[slash + 1] === UNICODE ? LONGEST_UNIT : 2) > to ? slash : to;
}

function isWithinLetter(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}
