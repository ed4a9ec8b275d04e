/** Stands for a text in comparisons: a number takes 8 bytes where the text may take thousands. */

/** What is not known equals nothing, not even itself. */
export const UNKNOWN_FINGERPRINT = Number.NaN;

/**
 * @param text any text
 * @param after the fingerprint of what stands before it; so a text in two parts need not be joined first
 * @returns a whole number below 2^53; equal texts give equal numbers, unequal ones practically never (two FNV-1a hashes
 * with different starts, 53 of their 64 bits). Not for adversaries: who forges one only hides a loop of his own.
 */
export function fingerprint(text: string, after = 0): number {
  let low = 0x811c9dc5 ^ after;
  let high = 0x9747b28c ^ Math.floor(after / 0x100000000);
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x5bd1e995);
    high ^= high >>> 15;
  }
  return (high & 0x1fffff) * 0x100000000 + (low >>> 0);
}
