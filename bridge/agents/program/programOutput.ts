/**
 * A program's standard output and the end of its standard error.
 *
 * The end of the stream does not show the program's end: tools that it left behind may hold the pipe open, and write into it. So once
 * the program has ended, what it had written is read, and nothing more is awaited.
 */
import type { Readable } from 'node:stream';
import { ForeignTail } from '../../../src/log/foreignTail.js';
import type { Redact } from '../../../src/log/redact.js';
import { atMost, type Clock, giveWay, SECOND } from '../../../src/time.js';

/** After the program's end, so long a silence means that the programs behind its output have passed everything on. */
const SILENCE_MS = 200;
/** Without such a silence until then, it is another program that talks, such as a server that was left behind. */
const TALKS_ON_MS = SECOND;
/** More than a pipe holds: what a program wrote before its end is among the first bytes after it. */
const MOST_IN_PIPE_BYTES = 1024 * 1024;
/** After so many turns of the event loop, everything that was in a pipe is read. */
const TURNS = 3;
/** The interval of signs of life from standard error. */
const SIGN_EVERY_MS = SECOND;

export class ProgramOutput {
  readonly #stream: Readable;
  readonly #clock: Clock;
  #hasEnded = false;
  #onEnd = () => {};

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
    const take = (): Promise<Buffer | null> =>
      chunks.next().then(
        ({ done, value }) => (done ? null : value),
        () => null,
      );
    let next = take();
    for (let chunk = await this.#untilEnd(next); chunk !== 'ended'; chunk = await this.#untilEnd(next)) {
      if (chunk === null) return;
      yield chunk;
      next = take();
    }
    let bytes = 0;
    for (let chunk = await soon(next); chunk !== 'nothing'; chunk = await soon(next)) {
      if (chunk === null) return;
      yield chunk;
      bytes += chunk.length;
      if (bytes > MOST_IN_PIPE_BYTES) return this.close();
      next = take();
    }
    yield* await this.#passedOn(next, take);
    this.close();
  }

  /** From now on, silence means the end. */
  programEnded(): void {
    this.#hasEnded = true;
    this.#onEnd();
  }

  close(): void {
    this.#stream.destroy();
  }

  #untilEnd(next: Promise<Buffer | null>): Promise<Buffer | null | 'ended'> {
    return new Promise((resolve) => {
      this.#onEnd = () => resolve('ended');
      if (this.#hasEnded) resolve('ended');
      void next.then(resolve);
    });
  }

  /** Output after the program's end is its own if silence follows, as from a `tee` behind it; if it does not stop, another's. */
  async #passedOn(first: Promise<Buffer | null>, take: () => Promise<Buffer | null>): Promise<Buffer[]> {
    const talksOnAt = this.#clock.monotonic() + TALKS_ON_MS;
    const held: Buffer[] = [];
    let bytes = 0;
    for (let next = first; ; next = take()) {
      // After a suspension, a process's timers fire before it reads the pipe.
      const timely = await atMost(this.#clock, SILENCE_MS, next, 'nothing' as const);
      const chunk = timely === 'nothing' ? await soon(next) : timely;
      if (chunk === null || chunk === 'nothing') return held;
      held.push(chunk);
      bytes += chunk.length;
      if (this.#clock.monotonic() >= talksOnAt || bytes > MOST_IN_PIPE_BYTES) return [];
    }
  }
}

async function soon(next: Promise<Buffer | null>): Promise<Buffer | null | 'nothing'> {
  let found: Buffer | null | 'nothing' = 'nothing';
  void next.then((chunk) => {
    found = chunk;
  });
  for (let turns = 0; turns < TURNS && found === 'nothing'; turns += 1) await giveWay();
  return found;
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
