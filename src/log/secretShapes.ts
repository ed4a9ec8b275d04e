/**
 * Finds what looks like a secret: a token with its issuer's prefix, a value after a name that suggests a secret, a login in a
 * URL, a private key.
 *
 * It reads the text word by word and tries a pattern only at those words of which a few characters show that they may name a secret
 * or begin one. Most texts have hardly any. Every pattern takes linear time, because the text may be an attacker's: its repeats are
 * bounded, or consumed by the match, or end at a character that the next one begins with.
 */
import { findInAddress } from './addressSecrets.js';
import { asciiView, OTHERS } from './asciiView.js';
import { findAssigned, findPasswordOfPostgres, findShortName } from './assignedSecrets.js';
import { findBehindOption, findPiped } from './commandSecrets.js';
import { findInCookieJar } from './headerSecrets.js';
import { findKeyMiddle } from './keyMiddle.js';
import { findJoined, findMarked, findMarkedAt, mayBeginMark, mayJoinMark } from './markedTokens.js';
import { findCutKey, findPrivateKey, withLinesOfKey } from './privateKeys.js';
import { mayEndName, nameKindOf, qualifiedKindOf } from './secretNames.js';
import { add, replaceAt } from './secretPlaces.js';
import { looksRandom } from './secretValues.js';
import { type FoundSecret, matchEnd, type Word } from './stickyMatch.js';
import { codesOf } from './textCodes.js';
import { findUnknown } from './unknownTokens.js';

/** Sorts of characters in a word, by their codes; none for those that are in no word. */
const [LOWER, UPPER, DIGIT, JOINT, OTHER] = [1, 2, 4, 8, 16];
const SORTS = new Uint8Array(1 << 16);
for (let code = 0; code < 128; code += 1) {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) SORTS[code] = LOWER;
  else if (/[A-Z]/.test(character)) SORTS[code] = UPPER;
  else if (/\d/.test(character)) SORTS[code] = DIGIT;
  else if (/[_-]/.test(character)) SORTS[code] = JOINT;
}
for (const [first, last] of OTHERS) SORTS.fill(OTHER, first, last + 1);
/** What a word may be. */
const [NAME, TOKEN, MARK, JOINED, DASHES, NUMBER, SHORT, JAR, UNKNOWN, QUALIFIED] = [
  1, 2, 4, 8, 16, 32, 64, 128, 256, 512,
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
] = [0x3a, 0x2f, 0x2d, 0x25, 0x3d, 0x22, 0x20, 0x09, 0x5c, 0x4e, 0x44, 0x45, 0x72];
/** Shorter tokens are found only at the beginning of a word. */
const SHORTEST_TOKEN = 16;
const SHORTEST_IN_LOWER_CASE = 36;
const BOT_TOKEN = /(?::|%3[Aa])([A-Za-z0-9_-]{30,})/y;
const PORT_OF_POSTGRES = /^(?:543\d|6432)$/;
const KEY_MARK = /-{4,5}(?:BEGIN|END)$|-----$|^-{4,5}$/;
/** The first line of a key, of which the beginning was cut off. */
const LONGEST_CUT_MARK = 60;
const READS_INPUT = /^(?:smb)?passwd$/;
/** After their first sign. */
const URL_ESCAPE = /[0-9A-Fa-f]{2}/y;
const TERMINAL_ESCAPE = /\d{0,4}m/y;

export interface Replaced {
  readonly text: string;
  /** Whether the text had only characters of ASCII. */
  readonly wasAscii: boolean;
}

interface Seen extends Replaced {
  /** Whether it had any that are seen as others. */
  readonly hadOthers: boolean;
}

/** @returns the text with everything that looks like a secret replaced by a marker; doing it twice changes nothing more */
export function replaceSecrets(text: string): Replaced {
  const seen = replaceSeen(text, text);
  if (!seen.hadOthers) return seen;
  return { text: replaceSeen(seen.text, asciiView(seen.text)).text, wasAscii: false };
}

/**
 * @param shown what is replaced in
 * @param text as long, in which is looked
 */
function replaceSeen(shown: string, text: string): Seen {
  const codes = codesOf(text);
  const scan = { codes, publicTo: 0 };
  const { length } = text;
  const secrets: FoundSecret[] = [];
  let copied = 0;
  let end = 0;
  let sorts = 0;
  let allCodes = 0;
  let allSorts = 0;
  for (let at = 0; at < length; ) {
    const code = codes[at] ?? 0;
    const sort = SORTS[code] ?? 0;
    let secret: FoundSecret | null = null;
    if (sort === 0 || sort === OTHER) {
      allCodes |= code;
      allSorts |= sort;
      const isAddress = codes[at] === COLON && codes[at + 1] === SLASH && codes[at + 2] === SLASH && at + 2 < length;
      at += 1;
      if (isAddress) secret = findInAddress(text, at - 1);
    } else {
      const start = at;
      // What is left of a word behind a secret is a word itself, and is not read again.
      if (at >= end) {
        sorts = sort;
        for (end = at + 1; end < length; end += 1) {
          const next = SORTS[codes[end] ?? 0] ?? 0;
          if (next === 0 || next === OTHER) break;
          sorts |= next;
        }
      }
      at = end;
      const hints = hintsOf(codes, start, end, (sorts << 16) | (end < length ? (codes[end] ?? 0) : 0));
      if (hints !== 0) secret = findInWord(text, { start, end, scan }, hints, copied);
    }
    if (secret === null) continue;
    add(secrets, secret);
    copied = secret.to;
    at = secret.to;
  }
  return {
    text: replaceAt(shown, secrets),
    wasAscii: allCodes < 128,
    hadOthers: allSorts !== 0,
  };
}

/**
 * Sorts out nearly all words, by a few of their characters.
 * @param found the sorts of characters in the word, and the code of the character behind it in the lower 16 bits
 * @returns what the word may be, as a sum of the constants for it
 */
function hintsOf(codes: Uint16Array, start: number, end: number, found: number): number {
  const sorts = found >> 16;
  const behind = found & 0xffff;
  const last = codes[end - 1] ?? 0;
  let hints = 0;
  if (end > 3 ? end - start > 1 && mayEndName(codes, end) : end > 1) hints |= NAME;
  if ((SORTS[codes[end + 1] ?? 0] !== 0 || codes[end + 1] === SLASH) && mayJoinMark(codes[end - 2] ?? 0, last, behind))
    hints |= JOINED;
  if (sorts === LOWER) return end - start < 3 && mayBeShortName(codes[start] ?? 0) ? hints | SHORT : hints;
  if ((sorts & DIGIT) !== 0 && end - start >= SHORTEST_TOKEN) {
    hints |= (sorts & UPPER) !== 0 || end - start >= SHORTEST_IN_LOWER_CASE ? TOKEN | UNKNOWN : TOKEN;
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

/** A name with a number behind it, or a variable of an environment. */
function mayBeQualified(codes: Uint16Array, end: number, sorts: number, behind: number): boolean {
  if (behind !== EQUALS && behind !== COLON && behind !== QUOTE) return false;
  if ((sorts & LOWER) === 0) return (sorts & UPPER) !== 0 && (behind === EQUALS || (sorts & JOINT) !== 0);
  return SORTS[codes[end - 1] ?? 0] === DIGIT && SORTS[codes[end - 3] ?? 0] !== DIGIT;
}

function mayBeShortName(first: number): boolean {
  return first === 0x64 || first === 0x6b || first === 0x70 || first === 0x71;
}

/** @param free the text before it is replaced already */
function findInWord(text: string, word: Word, hints: number, free: number): FoundSecret | null {
  const start = behindEscape(text, word);
  const { end, scan } = word;
  if (start >= end) return null;
  return (
    ((hints & DASHES) === 0 ? null : findBehindDashes(text, start, end, free)) ??
    ((hints & TOKEN) === 0 ? null : withLinesOfKey(text, findMarked(text, { start, end, scan }))) ??
    ((hints & (MARK | TOKEN)) === MARK || start > word.start
      ? withLinesOfKey(text, findMarkedAt(text, start, { start, end, scan }))
      : null) ??
    ((hints & JOINED) === 0 ? null : findJoined(text, { start, end, scan })) ??
    ((hints & NUMBER) === 0 ? null : findBesideColon(text, start, end)) ??
    ((hints & SHORT) === 0 ? null : findShortName(text, start, end)) ??
    ((hints & JAR) === 0 ? null : findInCookieJar(text, end)) ??
    ((hints & (NAME | QUALIFIED)) === 0 ? null : findNamed(text, { start, end, scan }, hints, free)) ??
    ((hints & UNKNOWN) === 0
      ? null
      : (findUnknown(text, { start, end, scan }) ?? findKeyMiddle(text, { start, end, scan })))
  );
}

/** @returns where the word begins: `\nsk-…` in JSON, `%20sk-…` in a URL, `[31msk-…` in terminal output */
function behindEscape(text: string, { start }: Word): number {
  const before = text.charAt(start - 1);
  if (before === '\\') {
    const letter = text.charAt(start);
    return letter === 'u' ? start + 5 : 'nrtbf'.includes(letter) ? start + 1 : start;
  }
  if (before !== '%' && before !== '[' && before !== ';') return start;
  return matchEnd(before === '%' ? URL_ESCAPE : TERMINAL_ESCAPE, text, start) || start;
}

/** A private key, or an option. */
function findBehindDashes(text: string, start: number, end: number, free: number): FoundSecret | null {
  const mark = KEY_MARK.exec(text.slice(start, end));
  if (mark !== null) {
    const key = findPrivateKey(text, start + mark.index) ?? (end < LONGEST_CUT_MARK ? findCutKey(text, end) : null);
    if (key !== null) return key;
  }
  if (text.charCodeAt(start) !== HYPHEN) return null;
  return findBehindOption(text, start, end) ?? (text.startsWith('-S', start) ? findPiped(text, start, free) : null);
}

/** A token of a bot of Telegram, or a line of `.pgpass`. */
function findBesideColon(text: string, start: number, end: number): FoundSecret | null {
  const behind = text.charAt(end);
  if (behind !== ':' && behind !== '%') return null;
  if (PORT_OF_POSTGRES.test(text.slice(Math.max(start, end - 5), end))) return findPasswordOfPostgres(text, end);
  let from = end;
  while (from > start && /\d/.test(text.charAt(from - 1))) from -= 1;
  if (end - from < 6) return null;
  BOT_TOKEN.lastIndex = end;
  const secret = BOT_TOKEN.exec(text)?.[1] ?? '';
  return looksRandom(secret) ? { from, to: BOT_TOKEN.lastIndex, replacement: '[redacted:bot_token]' } : null;
}

function findNamed(text: string, { start, end }: Word, hints: number, free: number): FoundSecret | null {
  const kind =
    ((hints & NAME) === 0 ? null : nameKindOf(text, start, end)) ??
    ((hints & QUALIFIED) === 0 ? null : qualifiedKindOf(text, start, end));
  if (kind === null) return null;
  if (kind === 'key_lines') return findPrivateKey(text, start);
  if (kind === 'piped') return findPiped(text, start, free);
  return (
    findAssigned(text, start, end, kind) ??
    (READS_INPUT.test(text.slice(start, end)) ? findPiped(text, start, free) : null)
  );
}
