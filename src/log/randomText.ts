/** Distinguishes random text, as programs make secrets from it, from words, names, numbers and code. */

/** This much of a value shows whether it is random. */
const MOST_LOOKED_AT = 96;
export const SHORTEST_RANDOM = 16;
/** Least changes per character of a random value, with some digits among them, and without. */
const FEW_CHANGES = 0.2;
const MANY_CHANGES = 0.5;
const SHORTEST_WITHOUT_DIGITS = 28;
/** Sorts of characters; a sign between two runs of others is no change. */
const [OTHER, SIGN, LOWER, UPPER, DIGIT] = [0, 1, 2, 3, 4];
/** By the code of each ASCII character: a table takes a tenth of the time of patterns. */
const SORTS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z~]/.test(character)) return LOWER;
  if (/[A-Z_]/.test(character)) return UPPER;
  if (/\d/.test(character)) return DIGIT;
  return '+/.%:$!=-'.includes(character) ? SIGN : OTHER;
});
/** The same for text of nothing but letters, digits and the signs of base64. */
const RANDOM_SORTS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if ('_+/=-'.includes(character)) return SIGN;
  return /[A-Za-z0-9]/.test(character) ? (SORTS[code] ?? OTHER) : OTHER;
});
const SHORTEST_LOWER = 24;
/** Least changes per character of small letters and digits. */
const LEAST_LOWER_CHANGES = 0.15;
/** Random letters and digits change their sort at three of five steps, names that are written together at two of five. */
const LEAST_CHANGES = 0.45;
const SHORTEST_LONE = 20;
const SHORTEST_NOISE = 32;

/** Random characters change their kind at nearly every step; words, names, versions and instants do not. ASCII only. */
export function looksRandom(value: string): boolean {
  const length = Math.min(value.length, MOST_LOOKED_AT);
  if (length < SHORTEST_RANDOM) return false;
  let from = 0;
  let digits = 0;
  let changes = -1;
  let last = SIGN;
  const isRandom = (end: number) => {
    const found = end - from;
    if (digits >= 2) return found >= SHORTEST_RANDOM && changes >= found * FEW_CHANGES;
    if (digits === 1 && found >= SHORTEST_LONE) return changes >= found * LEAST_CHANGES;
    return found >= SHORTEST_WITHOUT_DIGITS && changes >= found * MANY_CHANGES;
  };
  for (let index = 0; index < length; index += 1) {
    const code = value.charCodeAt(index);
    if (code >= SORTS.length) {
      if (isRandom(index)) return true;
      [from, digits, changes, last] = [index + 1, 0, -1, SIGN];
      continue;
    }
    const sort = SORTS[code] ?? OTHER;
    if (sort === OTHER) return false;
    if (sort === DIGIT) digits += 1;
    if (sort === SIGN || sort === last) continue;
    changes += 1;
    last = sort;
  }
  return isRandom(length);
}

/** @returns whether the text is random characters with signs among them, as programs make them for other programs */
export function isNoise(text: string): boolean {
  const plain = text.replace(/[^A-Za-z0-9]/g, '');
  return text.length >= SHORTEST_NOISE && plain.length >= text.length * 0.6 && isVeryRandom(plain);
}

/** @returns whether the text is random small letters and digits, long enough for a secret */
export function isLowerRandom(text: string): boolean {
  if (text.length < SHORTEST_LOWER || !/^[a-z0-9]+$/.test(text)) return false;
  const changes = text.match(/[a-z](?=\d)|\d(?=[a-z])/g)?.length ?? 0;
  return changes >= text.length * LEAST_LOWER_CHANGES;
}

/** @returns whether the text is random letters in both cases and digits, with few signs between them; no name is */
export function isVeryRandom(text: string): boolean {
  const found = [0, 0, 0, 0, 0];
  let changes = 0;
  let last = SIGN;
  for (let index = 0; index < text.length; index += 1) {
    const sort = RANDOM_SORTS[text.charCodeAt(index)] ?? OTHER;
    if (sort === OTHER) return false;
    found[sort] = (found[sort] ?? 0) + 1;
    if (sort === SIGN) continue;
    if (last !== SIGN && sort !== last) changes += 1;
    last = sort;
  }
  const [, , lower = 0, upper = 0, digits = 0] = found;
  const plain = lower + upper + digits;
  if (lower === 0 || upper === 0 || digits === 0 || plain < text.length * 0.85) return false;
  return changes >= (plain - 1) * (digits > 1 ? LEAST_CHANGES : MANY_CHANGES);
}
