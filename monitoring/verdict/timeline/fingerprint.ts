/** Replaces a text in comparisons: a number takes 8 bytes, the text perhaps thousands. */

/** An unknown value equals nothing, not even itself. */
export const UNKNOWN_FINGERPRINT = Number.NaN;

/** How deep digests look: a line of a million brackets must not overflow the stack. */
const DEEPEST_LEVEL = 64;
const HIGH_UNIT = 0x100000000;

/**
 * @param text any text
 * @param after the fingerprint of the text before it, so that a text in two parts need not be joined first
 * @returns a whole number below 2^53; equal texts give equal numbers, unequal ones practically never (two FNV-1a hashes with
 * different starts, 53 of their 64 bits). Not safe against adversaries: one who forges it only hides a loop of his own.
 */
export function fingerprint(text: string, after = 0): number {
  const print = new Print(after);
  print.take(text);
  return print.value;
}

/**
 * @param value a JSON value
 * @param after the fingerprint of what precedes it
 * @returns a fingerprint; equal values give equal numbers, whatever the order of their keys. Each part is hashed directly,
 * because making JSON of them first takes twice as long as all the rest
 */
export function fingerprintOfJson(value: unknown, after = 0): number {
  const print = new Print(after);
  takeJson(print, value, 0);
  return print.value;
}

/** A fingerprint in progress, as two whole numbers: a single one of 53 bits would be boxed each time it is passed on. */
class Print {
  #low: number;
  #high: number;

  constructor(after: number) {
    this.#low = after | 0;
    this.#high = (after / HIGH_UNIT) | 0;
  }

  take(text: string): void {
    let low = 0x811c9dc5 ^ this.#low;
    let high = 0x9747b28c ^ this.#high;
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      low = Math.imul(low ^ unit, 0x01000193);
      high = Math.imul(high ^ unit, 0x5bd1e995);
      high ^= high >>> 15;
    }
    this.#low = low;
    this.#high = high & 0x1fffff;
  }

  get value(): number {
    return this.#high * HIGH_UNIT + (this.#low >>> 0);
  }
}

function takeJson(print: Print, value: unknown, level: number): void {
  if (typeof value === 'string') takeQuoted(print, value);
  else if (value === null || typeof value !== 'object') print.take(String(value));
  else if (level === DEEPEST_LEVEL) print.take('…');
  else if (Array.isArray(value)) {
    print.take('[');
    for (const item of value) takeJson(print, item, level + 1);
    print.take(']');
  } else {
    const members = value as Readonly<Record<string, unknown>>;
    print.take('{');
    for (const key of sortedKeys(members)) {
      takeQuoted(print, key);
      takeJson(print, members[key], level + 1);
    }
    print.take('}');
  }
}

/** Distinguishes a text from a bracket or a number that looks like it. */
function takeQuoted(print: Print, text: string): void {
  print.take('"');
  print.take(text);
}

/** Most inputs have them in order. */
function sortedKeys(members: object): string[] {
  const keys = Object.keys(members);
  for (let index = 1; index < keys.length; index += 1) {
    if ((keys[index] ?? '') < (keys[index - 1] ?? '')) return keys.sort();
  }
  return keys;
}
