/**
 * A program's standard output and the end of its standard error.
 *
 * The end of the stream does not show the program's end: tools that it left behind may hold the pipe open. So once the program
 * has ended, the rest of the pipe is read, and nothing more is awaited.
 */
import type { Readable } from 'node:stream';
import { ForeignTail } from '../../../src/log/foreignTail.js';
import type { Redact } from '../../../src/log/redact.js';
import { type Clock, giveWay, SECOND, type Timer } from '../../../src/time.js';

/** After the program's end, this long a silence means that everything it wrote was read. */
const DRAIN_IDLE_MS = 200;
/** More than any pipe holds: anything beyond it comes from other processes. */
const DRAIN_LIMIT_BYTES = 16 * 1024 * 1024;
/** The interval of signs of life from standard error. */
const SIGN_EVERY_MS = SECOND;

export class ProgramOutput {
  readonly #stream: Readable;
  readonly #clock: Clock;
  #programEnded = false;
  #waiting = false;
  #idle: Timer | null = null;
  #drained = 0;

  constructor(stream: Readable, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
    // When a child exits, Node discards the output of streams that have no listener.
    stream.on('readable', () => {});
    // A broken pipe ends the reading; the exit says why the program ended.
    stream.on('error', () => {});
  }

  /** Reads only on request: a slow reader makes the program wait instead of filling this process's memory. */
  async *chunks(): AsyncGenerator<Buffer> {
    const chunks = this.#stream[Symbol.asyncIterator]();
    while (this.#drained <= DRAIN_LIMIT_BYTES) {
      const chunk = await this.#next(chunks);
      if (chunk === null) return;
      if (this.#programEnded) this.#drained += chunk.length;
      yield chunk;
    }
  }

  /** From now on, silence means the end. */
  programEnded(): void {
    this.#programEnded = true;
    this.#limitSilence();
  }

  close(): void {
    this.#stream.destroy();
  }

  async #next(chunks: AsyncIterator<Buffer>): Promise<Buffer | null> {
    this.#waiting = true;
    this.#limitSilence();
    try {
      const next = await chunks.next();
      return next.done ? null : next.value;
    } catch {
      return null;
    } finally {
      this.#waiting = false;
      this.#idle?.cancel();
      this.#idle = null;
    }
  }

  /** Only while a reader waits: a slow reader must not lose what it has not read. */
  #limitSilence(): void {
    if (!this.#programEnded || !this.#waiting || this.#idle !== null) return;
    const idle = this.#clock.after(DRAIN_IDLE_MS, async () => {
      // After a suspension, a process's timers fire before it reads what is in the pipe.
      await giveWay();
      if (this.#idle === idle) this.#stream.destroy();
    });
    this.#idle = idle;
  }
}

/** The end of a stream, which is always read, so that the program never waits for it. */
export class LastWords {
  /** Resolves when nothing more can come. */
  readonly spoken: Promise<void>;
  readonly #clock: Clock;
  readonly #tail = new ForeignTail();
  #onMore = () => {};
  #more = this.#untilMore();
  #notifiedAt = Number.NEGATIVE_INFINITY;

  constructor(stream: Readable, clock: Clock) {
    this.#clock = clock;
    this.spoken = new Promise((resolve) => stream.once('close', resolve));
    stream.on('error', () => {});
    stream.setEncoding('utf8').on('data', (text: string) => {
      this.#tail.push(text);
      this.#notify();
    });
  }

  /** Resolves at the next output, at most once per {@link SIGN_EVERY_MS}. */
  get more(): Promise<void> {
    return this.#more;
  }

  /** @returns at most its last `longest` UTF-16 units, without secrets */
  last(longest: number, redact: Redact): string {
    return this.#tail.last(longest, redact);
  }

  #notify(): void {
    const now = this.#clock.monotonic();
    if (now - this.#notifiedAt < SIGN_EVERY_MS) return;
    this.#notifiedAt = now;
    const onMore = this.#onMore;
    this.#more = this.#untilMore();
    onMore();
  }

  #untilMore(): Promise<void> {
    return new Promise((resolve) => {
      this.#onMore = resolve;
    });
  }
}
