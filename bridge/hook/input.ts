/** Reads what an agent gives its hook. The agent may leave the input open, write late, or write nothing: none of them holds it up. */
import { fstatSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';
import { LARGEST_PAYLOAD_BYTES, type Payload, parsePayload } from '../../memory/programs/payload.js';
import { errorCode } from '../../src/errors.js';
import { systemClock } from '../../src/time.js';

const STDIN = 0;
const CHUNK_BYTES = 64 * 1024;
const END_OF_OBJECT = 0x7d;
/** The last of the characters that JSON calls white space. */
const SPACE = 0x20;
const WAIT_MS = 1;
/** Agents write as soon as they have started a hook. */
const READ_WITHIN_MS = 1_000;

/**
 * Reads to the end of the payload, which need not be that of the input. One that is too long is read to its end, too: the agent
 * may not expect that its reader leaves early.
 * @param agent the name of the program that sends it; null if it is not known
 * @returns null if what was written is none
 * @throws Error if it is too long, does not come in time, or cannot be read
 */
export function readPayload(agent: string | null): Payload | null {
  waitForNothing();
  let until = systemClock.monotonic() + READ_WITHIN_MS;
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let parts: Buffer[] = [];
  for (let length = 0, count = 0; ; length += count) {
    count = readBefore(until, chunk);
    if (length + count > LARGEST_PAYLOAD_BYTES) {
      parts = [];
      until = systemClock.monotonic() + READ_WITHIN_MS;
    } else parts.push(Buffer.from(chunk.subarray(0, count)));
    const payload = count === 0 || endsObject(chunk, count) ? parsePayload(textOf(parts), agent) : null;
    if (payload !== null) return payload;
    if (count > 0) continue;
    if (length > LARGEST_PAYLOAD_BYTES) throw new Error(`the payload is longer than ${LARGEST_PAYLOAD_BYTES} bytes`);
    return null;
  }
}

/**
 * Has a read of an empty input fail instead of waiting, which nothing could end. Only an open handle of Node's does so; its own
 * class for it takes longer to load than most of the hook's work.
 */
function waitForNothing(): void {
  const kind = fstatSync(STDIN);
  // A person may start it by hand, and would have to guess how to end it.
  if (kind.isCharacterDevice() && isatty(STDIN)) throw new Error('it was given a terminal to read');
  if (!kind.isFIFO() && !kind.isSocket()) return;
  try {
    // Some later Node may warn of it, or not have it.
    process.noDeprecation = true;
    const { Pipe } = (process as unknown as { binding(name: string): Handles }).binding('pipe_wrap');
    new Pipe(0).open(STDIN);
  } catch {
    new Socket({ fd: STDIN, readable: false });
  } finally {
    process.noDeprecation = false;
  }
}

interface Handles {
  readonly Pipe: new (type: number) => { open(fd: number): void };
}

function readBefore(until: number, chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(STDIN, chunk);
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error;
      if (systemClock.monotonic() > until) throw new Error('it was given no whole payload in time', { cause: error });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, WAIT_MS);
    }
  }
}

/** A line break may follow, or nothing. */
function endsObject(chunk: Buffer, length: number): boolean {
  let last = length - 1;
  while (last >= 0 && (chunk[last] ?? 0) <= SPACE) last -= 1;
  return chunk[last] === END_OF_OBJECT;
}

function textOf(parts: readonly Buffer[]): string {
  return Buffer.concat(parts).toString('utf8');
}
