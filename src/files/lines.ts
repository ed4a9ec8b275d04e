/** Reads lines from bytes, as they arrive or from a file from an offset on, without holding either in memory as a whole. */
import { isAscii } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';

const NEWLINE = 0x0a;
/** For a file: none of our lines comes near it. */
const LONGEST_LINE_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

export type SplitLine =
  /** `bytes` is its length without the line end. */
  | { readonly kind: 'line'; readonly text: string; readonly bytes: number }
  /** A line that was too long. */
  | { readonly kind: 'dropped'; readonly bytes: number };

/** Cuts bytes into lines. A line that is too long is dropped as it arrives. Keeps the chunks until their lines are complete. */
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
    const last = chunk.lastIndexOf(NEWLINE);
    const isPlain = last >= 0 && isAscii(chunk.subarray(0, last));
    const lines: SplitLine[] = [];
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, at));
      lines.push(this.#take());
      from = at + 1;
      if (isPlain && from <= last) {
        for (const text of chunk.toString('latin1', from, last).split('\n')) lines.push(this.#lineOf(text));
        from = last + 1;
      }
    }
    this.#add(chunk.subarray(from));
    return lines;
  }

  /** @param text of ASCII. Such lines are decoded together, which takes a third of the time */
  #lineOf(text: string): SplitLine {
    const bytes = text.length;
    return bytes > this.#limitBytes ? { kind: 'dropped', bytes } : { kind: 'line', text, bytes };
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
      bytes > this.#limitBytes ? { kind: 'dropped', bytes } : { kind: 'line', text: textOf(this.#held), bytes };
    this.#held = [];
    this.#length = 0;
    return line;
  }
}

/** A line seldom spans two chunks, and copying it takes longer than the rest. */
function textOf([first, ...more]: readonly Buffer[]): string {
  if (first === undefined) return '';
  return (more.length === 0 ? first : Buffer.concat([first, ...more])).toString('utf8');
}

export interface AppendedLine {
  readonly text: string;
  /** Offset after the line and its line end, in bytes. */
  readonly end: number;
  /** False for text after the last line end: a line that is being written, or one that a crash cut off. */
  readonly whole: boolean;
}

/** @param offset at the beginning of a line @returns the lines behind it, but for empty ones and those over 1 MiB */
export async function* linesFrom(file: FileHandle, offset: number): AsyncGenerator<AppendedLine> {
  const splitter = new LineSplitter(LONGEST_LINE_BYTES);
  let position = offset;
  let end = offset;
  for (;;) {
    // A new one each time: the splitter keeps the beginning of a line in it.
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    for (const line of splitter.push(chunk.subarray(0, bytesRead))) {
      end += line.bytes + 1;
      if (isInk(line)) yield { text: line.text, end, whole: true };
    }
  }
  for (const line of splitter.flush()) {
    if (isInk(line)) yield { text: line.text, end: position, whole: false };
  }
}

function isInk(line: SplitLine): line is SplitLine & { readonly kind: 'line' } {
  return line.kind === 'line' && line.bytes > 0;
}
