/** Standard input as the server reads it: whole lines, none of them too long. */
import type { Readable } from 'node:stream';

const LINE_END = 0x0a;
/** A plan of 500 phases has less than a tenth of it. */
export const LONGEST_MESSAGE_BYTES = 8 * 1024 * 1024;

const TOO_LONG = `${JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32600, message: `a message is longer than ${LONGEST_MESSAGE_BYTES} bytes` },
})}\n`;

/**
 * A line without an end is kept back, so nothing of half a message arrives.
 * @param take takes a line with its end
 * @param say takes the answer to a message that is too long, which is dropped
 */
export function wholeLines(input: Readable, take: (line: Buffer) => void, say: (line: string) => void): void {
  let kept: Buffer[] = [];
  let bytes = 0;
  let isDropped = false;
  const keep = (part: Buffer) => {
    bytes += part.length;
    if (bytes > LONGEST_MESSAGE_BYTES && !isDropped) {
      isDropped = true;
      kept = [];
      say(TOO_LONG);
    }
    if (!isDropped) kept.push(part);
  };
  input.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf(LINE_END) + 1;
    for (let from = 0; from < end; ) {
      const next = chunk.indexOf(LINE_END, from) + 1;
      keep(chunk.subarray(from, next));
      const line = isDropped ? null : Buffer.concat(kept);
      [kept, bytes, isDropped, from] = [[], 0, false, next];
      if (line !== null) take(line);
    }
    if (end < chunk.length) keep(chunk.subarray(end));
  });
}
