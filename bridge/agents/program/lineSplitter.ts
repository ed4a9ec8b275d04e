/**
 * Cuts a stream of bytes into lines. It never holds more than one line of the permitted length; a longer line is dropped as it
 * arrives.
 */
const NEWLINE = 0x0a;

export type SplitLine =
  | { readonly kind: 'line'; readonly text: string }
  /** A line that was too long; `bytes` is its whole length. */
  | { readonly kind: 'dropped'; readonly bytes: number };

export class LineSplitter {
  readonly #limitBytes: number;
  #held: Buffer[] = [];
  #length = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes in memory now; never more than the limit. */
  get heldBytes(): number {
    return this.#held.reduce((sum, part) => sum + part.length, 0);
  }

  /** @returns the lines that `chunk` completes; bytes that are not UTF-8 become U+FFFD */
  push(chunk: Buffer): SplitLine[] {
    const lines: SplitLine[] = [];
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, at));
      lines.push(this.#take());
      from = at + 1;
    }
    this.#add(chunk.subarray(from));
    return lines;
  }

  /** @returns the text after the last line end, if any */
  flush(): SplitLine[] {
    return this.#length === 0 ? [] : [this.#take()];
  }

  #add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#limitBytes) this.#held = [];
    else if (part.length > 0) this.#held.push(part);
  }

  #take(): SplitLine {
    const bytes = this.#length;
    const line: SplitLine =
      bytes > this.#limitBytes
        ? { kind: 'dropped', bytes }
        : { kind: 'line', text: Buffer.concat(this.#held).toString('utf8') };
    this.#held = [];
    this.#length = 0;
    return line;
  }
}
