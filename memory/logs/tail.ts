/** Proof that the beginning of a log is still the one that somebody has folded. */
import { fingerprintAt } from '../../src/files/fingerprint.js';

/** Every line has an id that no other line has, so the last bytes say which log it is. */
const TAIL_BYTES = 1024;

/**
 * @param descriptor of the log, open for reading
 * @param at bytes of the beginning
 * @returns a fingerprint of its last bytes
 */
export function tailOf(descriptor: number, at: number): number {
  const length = Math.min(at, TAIL_BYTES);
  return fingerprintAt(descriptor, at - length, length);
}
