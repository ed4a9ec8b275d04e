/** Replaces a text in comparisons: a number takes 8 bytes, the text perhaps thousands. */

/** An unknown value equals nothing, not even itself. */
export const UNKNOWN_FINGERPRINT = Number.NaN;

/** How deep digests look: a line of a million brackets must not overflow the stack. */
const DEEPEST_LEVEL = 64;
const HIGH_UNIT = 0x100000000;

/**
 * @param after the fingerprint of the text before it, so that a text in two parts need not be joined first
 * @returns a whole number below 2^53; equal texts give equal numbers, unequal ones practically never (two FNV-1a hashes with
 * different starts, 53 of their 64 bits). Not safe against adversaries: one who forges it only hides a loop of his own.
 */
export function fingerprint(text: string, after = 0): number {
  let low = 0x811c9dc5 ^ (after | 0);
  let high = 0x9747b28c ^ ((after / HIGH_UNIT) | 0);
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x5bd1e995);
    high ^= high >>> 15;
  }
  return (high & 0x1fffff) * HIGH_UNIT + (low >>> 0);
}

/** @returns equal numbers for equal values, whatever the order of keys. Making JSON first takes twice as long as all the rest */
export function fingerprintOfJson(value: unknown, after = 0, level = 0): number {
  if (typeof value === 'string') return quoted(value, after);
  if (value === null || typeof value !== 'object') return fingerprint(String(value), after);
  if (level === DEEPEST_LEVEL) return fingerprint('…', after);
  if (Array.isArray(value)) {
    let print = fingerprint('[', after);
    for (const item of value) print = fingerprintOfJson(item, print, level + 1);
    return fingerprint(']', print);
  }
  const members = value as Readonly<Record<string, unknown>>;
  let print = fingerprint('{', after);
  for (const key of sortedKeys(members)) {
    print = fingerprintOfJson(members[key], quoted(key, print), level + 1);
  }
  return fingerprint('}', print);
}

/** Most inputs have them in order. */
function sortedKeys(members: object): string[] {
  const keys = Object.keys(members);
  return keys.every((key, index) => index === 0 || key >= (keys[index - 1] ?? '')) ? keys : keys.sort();
}

/** Distinguishes a text from a bracket or a number that looks like it. */
function quoted(text: string, after: number): number {
  return fingerprint(text, fingerprint('"', after));
}
