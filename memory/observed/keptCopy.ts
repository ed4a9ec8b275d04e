/**
 * The kept copy of a session's transcripts: the shares of its conversations, one after the other, as lines of a journal. The last
 * line is a seal: it says what the copy was made from, and proves that it is whole.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { withOwnFileSync } from '../../src/files/ownFile.js';
import { readAt } from '../../src/files/readAt.js';
import { readLastLine } from '../../src/journal/lastLine.js';

const CHUNK_BYTES = 1024 * 1024;

const sealSchema = z.object({
  v: z.literal(1),
  event: z.literal('kept'),
  sources: z.array(z.object({ provider: z.string(), conversation: z.string(), bytes: z.number(), lines: z.number() })),
  /** SHA-256 of all bytes before the seal. */
  digest: z.string(),
});
export type Seal = Readonly<z.output<typeof sealSchema>>;
/** A share of a conversation: what its transcripts held when it was read, and how many lines it has in the copy. */
export type Source = Seal['sources'][number];

/** @returns null if there is no copy, if it is cut off, or if another program has made it @throws UnreachableError if it cannot be read */
export function readSeal(path: string): Seal | null {
  return sealSchema.safeParse(readLastLine(path)).data ?? null;
}

/** A reader of journals passes over it, because it has no time. */
export function textOfSeal(sources: readonly Source[], digest: string): string {
  return JSON.stringify({ v: 1, event: 'kept', sources, digest });
}

export interface Checked {
  readonly bytes: number;
  /** SHA-256 of the whole file. */
  readonly digest: string;
  /** Its seal fits what is before it. */
  readonly isWhole: boolean;
}

/** @throws NotOwnError if others own or may write it; UnreachableError if its seal cannot be read; the file system's error */
export function checkCopy(path: string): Checked {
  const seal = readSeal(path);
  const tail = seal === null ? 0 : Buffer.byteLength(textOfSeal(seal.sources, seal.digest)) + 1;
  return withOwnFileSync(path, (descriptor, { size: bytes }) => {
    const all = createHash('sha256');
    let inner = '';
    for (let at = 0; at < bytes; ) {
      const end = at < bytes - tail ? bytes - tail : bytes;
      const chunk = readAt(descriptor, at, Math.min(CHUNK_BYTES, end - at));
      if (chunk.length === 0) break;
      all.update(chunk);
      at += chunk.length;
      if (at === bytes - tail) inner = all.copy().digest('hex');
    }
    if (bytes === tail) inner = createHash('sha256').digest('hex');
    return { bytes, digest: all.digest('hex'), isWhole: seal !== null && inner === seal.digest };
  });
}
