import { describeError, UsageError } from '../../src/errors.js';

/** UTF-8 takes at most this many bytes for a UTF-16 unit. */
const MOST_BYTES_PER_UNIT = 3;
const NO_TEXT = 'standard input is not UTF-8 text';

/** @param longest in UTF-16 units @throws UsageError if it cannot be read, is not UTF-8, is empty, or is longer */
export async function readText(input: AsyncIterable<Uint8Array>, longest: number): Promise<string> {
  const text = await readAnyText(input, longest);
  if (text.trim() === '') throw new UsageError('standard input is empty, so nothing was started');
  return text;
}

/** As {@link readText}; it may be empty. */
export async function readAnyText(input: AsyncIterable<Uint8Array>, longest: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of input) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES_PER_UNIT * longest) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new UsageError(`standard input cannot be read: ${describeError(cause)}`, { cause });
  }
  if (bytes > MOST_BYTES_PER_UNIT * longest)
    throw new UsageError(`standard input has more than ${longest} characters: a message cannot be longer`);
  const text = decode(Buffer.concat(chunks));
  // Another character set, such as UTF-16, or no text at all: no agent can receive it as an argument.
  if (text.includes('\0')) throw new UsageError(NO_TEXT);
  return text;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError(NO_TEXT, { cause });
  }
}
