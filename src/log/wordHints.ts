/** Guesses by a few characters what a word may be: a secret's name, a token, an option. Most words are none of them. */
import { OTHERS } from './asciiView.js';
import { FOREIGN_LETTERS } from './foreignNames.js';
import { mayBeginMark, mayJoinMark } from './markedTokens.js';
import { ENDINGS_OF_NAMES, ENDINGS_OF_SESSIONS, ENDINGS_OF_STAGES } from './secretNames.js';

/** Sorts of characters in a word, by their codes; none for those that are in no word. */
const [LOWER, UPPER, DIGIT, JOINT] = [1, 2, 4, 8];
export const [OTHER, FOREIGN] = [16, 32];
export const SORTS = new Uint8Array(1 << 16);
for (let code = 0; code < 128; code += 1) {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) SORTS[code] = LOWER;
  else if (/[A-Z]/.test(character)) SORTS[code] = UPPER;
  else if (/\d/.test(character)) SORTS[code] = DIGIT;
  else if (/[_-]/.test(character)) SORTS[code] = JOINT;
}
for (const [first, last] of OTHERS) SORTS.fill(OTHER, first, last + 1);
for (const letter of FOREIGN_LETTERS) SORTS[letter.charCodeAt(0)] = FOREIGN;
export const [NAME, TOKEN, MARK, JOINED, DASHES, NUMBER, SHORT, JAR, UNKNOWN, QUALIFIED, LINE] = [
  1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024,
];
const [
  COLON,
  SLASH,
  HYPHEN,
  PERCENT,
  EQUALS,
  QUOTE,
  SPACE,
  TAB,
  BACKSLASH,
  LAST_OF_BEGIN,
  LAST_OF_END,
  LAST_OF_FLAG,
  LAST_OF_USER,
  COMMA,
] = [0x3a, 0x2f, 0x2d, 0x25, 0x3d, 0x22, 0x20, 0x09, 0x5c, 0x4e, 0x44, 0x45, 0x72, 0x2c];
/** Shorter tokens are found only at the beginning of a word. */
const SHORTEST_TOKEN = 16;
const SHORTEST_IN_LOWER_CASE = 32;
/** Most backslashes before a quote, as JSON in JSON has them. */
const DEEPEST = 7;
/** @param found the sorts of characters in the word, and the code behind it in the lower 16 bits */
export function hintsOf(codes: Uint16Array, start: number, end: number, found: number): number {
  const sorts = found >> 16;
  const behind = found & 0xffff;
  const last = codes[end - 1] ?? 0;
  let hints = 0;
  if (end > 3 ? end - start > 1 && ENDINGS_OF_NAMES.mayEnd(codes, end) : end > 1) hints |= NAME;
  if ((SORTS[codes[end + 1] ?? 0] !== 0 || codes[end + 1] === SLASH) && mayJoinMark(codes[end - 2] ?? 0, last, behind))
    hints |= JOINED;
  if (isBeforeValue(codes, end, behind) && ENDINGS_OF_SESSIONS.mayEnd(codes, end)) hints |= QUALIFIED;
  if (sorts === LOWER) return end - start < 3 && mayBeShortName(codes[start] ?? 0) ? hints | SHORT : hints;
  if ((sorts & DIGIT) !== 0 && end - start >= SHORTEST_TOKEN) {
    hints |= (sorts & UPPER) !== 0 || end - start >= SHORTEST_IN_LOWER_CASE ? TOKEN | UNKNOWN : TOKEN;
    // A word this long from a key has both cases, but for one in thousands. Identifiers of one case are in most lines of a log.
    if ((sorts & UPPER) !== 0 && (sorts & LOWER) !== 0) hints |= LINE;
  }
  if (last === LAST_OF_FLAG && (behind === TAB || behind === BACKSLASH)) hints |= JAR;
  const first = codes[start] ?? 0;
  if (mayBeginMark(first, codes[start + 1] ?? 0, codes[start + 2] ?? 0)) hints |= MARK;
  if ((sorts & JOINT) !== 0) {
    const isOption =
      first === HYPHEN && (codes[start + 1] !== HYPHEN || codes[start + 2] === HYPHEN || last === LAST_OF_USER);
    if (isOption || last === HYPHEN || last === LAST_OF_BEGIN || last === LAST_OF_END) hints |= DASHES;
  }
  if (SORTS[first] !== DIGIT && mayBeQualified(codes, end, sorts, behind)) hints |= QUALIFIED;
  if ((behind !== COLON && behind !== PERCENT) || SORTS[last] !== DIGIT || end - start < 4) return hints;
  const isLong = SORTS[codes[end - 4] ?? 0] === DIGIT && SORTS[codes[end - 3] ?? 0] === DIGIT;
  return isLong && codes[end + 1] !== SPACE ? hints | NUMBER : hints;
}

/** `session=…`, and `"name": "session", "value": …` */
function isBeforeValue(codes: Uint16Array, end: number, behind: number): boolean {
  if (behind === EQUALS) return true;
  if (behind !== QUOTE && behind !== BACKSLASH) return false;
  let quote = end;
  while (quote - end < DEEPEST && codes[quote] === BACKSLASH) quote += 1;
  return codes[quote] === QUOTE && codes[quote + 1] === COMMA;
}

/** A name with a number behind it, or a variable of an environment. */
function mayBeQualified(codes: Uint16Array, end: number, sorts: number, behind: number): boolean {
  if (behind !== EQUALS && behind !== COLON && behind !== QUOTE) return false;
  if ((sorts & LOWER) === 0) return (sorts & UPPER) !== 0 && (behind === EQUALS || (sorts & JOINT) !== 0);
  let nameEnd = end;
  while (end - nameEnd < 3 && SORTS[codes[nameEnd - 1] ?? 0] === DIGIT) nameEnd -= 1;
  if (nameEnd === end) return (sorts & (JOINT | UPPER)) !== 0 && ENDINGS_OF_STAGES.mayEnd(codes, end);
  if (end - nameEnd > 2) return false;
  return ENDINGS_OF_NAMES.mayEnd(codes, SORTS[codes[nameEnd - 1] ?? 0] === JOINT ? nameEnd - 1 : nameEnd);
}

function mayBeShortName(first: number): boolean {
  return first === 0x64 || first === 0x6b || first === 0x70 || first === 0x71;
}
