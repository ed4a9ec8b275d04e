/** Proof that the beginning of a log is still the one that somebody has folded. */
import { createHash } from 'node:crypto';
import { readAt } from '../../src/files/readAt.js';

/** Every line has an id that no other line has, so the last bytes say which log it is. */
const TAIL_BYTES = 1024;

/**
 * @param descriptor of the log, open for reading
 * @param at bytes of the beginning
 * @returns a digest of its last bytes
 */
export function tailOf(descriptor: number, at: number): string {
  const from = Math.max(0, at - TAIL_BYTES);
  const bytes = readAt(descriptor, from, at - from);
  return createHash('sha256').update(bytes).digest('base64url');
}
