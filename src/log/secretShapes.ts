/**
 * Finds texts that look like a secret: a token with its issuer's prefix, a value after a name that suggests a secret, a login in a
 * URL, a private key.
 *
 * It reads the text word by word and tries a pattern only at words that may name a secret or begin one, by a few of their
 * characters. Most texts have hardly any. Every pattern takes linear time, because the text may be an attacker's: its repeats are
 * bounded, or consumed by the match, or end at a character that the next one begins with.
 */
import { findAroundAt, findInAddress } from './addressSecrets.js';
import { asciiView } from './asciiView.js';
import { findAssigned } from './assignedSecrets.js';
import { findBehindOption, findHere, findPiped } from './commandSecrets.js';
import { replaceForeign } from './foreignNames.js';
import { findInCookieJar } from './headerSecrets.js';
import { findKeyMiddle } from './keyMiddle.js';
import { findJoined, findMarked, findMarkedAt } from './markedTokens.js';
import { findCutKey, findPrivateKey, withLinesOfKey } from './privateKeys.js';
import { looksRandom } from './randomText.js';
import { type NameKind, nameKindOf, qualifiedKindOf } from './secretNames.js';
import { findBeforeName } from './sentenceSecrets.js';
import { findPasswordOfPostgres, findShortName } from './shortNames.js';
import { type FoundSecret, matchEnd, type Word } from './stickyMatch.js';
import { codesOf } from './textCodes.js';
import { findUnknown, isIdentifier } from './unknownTokens.js';
import {
  DASHES,
  FOREIGN,
  hintsOf,
  JAR,
  JOINED,
  LINE,
  MARK,
  NAME,
  NUMBER,
  OTHER,
  QUALIFIED,
  SHORT,
  SORTS,
  TOKEN,
  UNKNOWN,
} from './wordHints.js';

const [COLON, SLASH, HYPHEN, AT] = [0x3a, 0x2f, 0x2d, 0x40];
const BOT_TOKEN = /(?::|%3[Aa])([A-Za-z0-9_-]{30,})/y;
const PORT_OF_POSTGRES = /^(?:543\d|6432)$/;
const KEY_MARK = /-{4,5}(?:BEGIN|END)$|-----$|^-{4,5}$/;
/** The first line of a key whose beginning was cut off. */
const LONGEST_CUT_MARK = 60;
/** Between a name and its value; no other secret is in there. */
const LONGEST_GAP = 12;
const MOST_PASSES = 5;
/** Secrets that people write before their names, and that programs read from their input. */
const SPOKEN: ReadonlySet<NameKind> = new Set(['password', 'secret', 'token', 'key']);
const READS_INPUT = /^(?:(?:smb)?passwd\b|--with-token\b|secrets? (?:set|put|create|add)\b)/;
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
  /** Whether it had letters of names in other languages. */
  readonly hadForeign: boolean;
  /** Whether text between a name and its secret was not searched. */
  readonly hadGap: boolean;
}

/** @returns the text with everything that looks like a secret replaced by a marker; doing it twice changes nothing more */
export function replaceSecrets(text: string): Replaced {
  const seen = replaceAll(text, (shown) => shown);
  if (seen.wasAscii) return seen;
  const result = seen.hadOthers ? replaceAll(seen.text, asciiView).text : seen.text;
  return { text: seen.hadForeign ? replaceForeign(result) : result, wasAscii: false };
}

/** Again where a secret was found far behind its name: there may be others between them. */
function replaceAll(text: string, view: (text: string) => string): Seen {
  let seen = replaceSeen(text, view(text));
  for (let count = 0; count < MOST_PASSES && seen.hadGap; count += 1) {
    const next = replaceSeen(seen.text, view(seen.text));
    if (next.text === seen.text) break;
    seen = { ...seen, text: next.text, hadGap: next.hadGap };
  }
  return seen;
}

/** @param text a view of `shown`, as long, where secrets are looked for */
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
  let hadGap = false;
  for (let at = 0; at < length; ) {
    const code = codes[at] ?? 0;
    const sort = SORTS[code] ?? 0;
    let secret: FoundSecret | null = null;
    if (sort === 0 || sort >= OTHER) {
      allCodes |= code;
      allSorts |= sort;
      const isAddress = codes[at] === COLON && codes[at + 1] === SLASH && codes[at + 2] === SLASH && at + 2 < length;
      at += 1;
      if (isAddress) secret = findInAddress(text, at - 1);
      else if (code === AT && SORTS[codes[at] ?? 0] !== 0) secret = findAroundAt(text, at - 1, copied);
    } else {
      const start = at;
      // The rest of a word behind a secret is a word itself, and is not read again.
      if (at >= end) {
        sorts = sort;
        for (end = at + 1; end < length; end += 1) {
          const next = SORTS[codes[end] ?? 0] ?? 0;
          if (next === 0 || next >= OTHER) break;
          sorts |= next;
        }
      }
      at = end;
      const hints = hintsOf(codes, start, end, (sorts << 16) | (end < length ? (codes[end] ?? 0) : 0));
      if (hints !== 0) secret = findInWord(text, { start, end, scan }, hints, copied);
    }
    if (secret === null) continue;
    hadGap ||= secret.from > at + LONGEST_GAP || secret.replacement.includes('\n');
    add(secrets, secret);
    copied = secret.to;
    at = secret.to;
  }
  return {
    text: replaceAt(shown, secrets),
    wasAscii: allCodes < 128,
    hadOthers: (allSorts & OTHER) !== 0,
    hadForeign: (allSorts & FOREIGN) !== 0,
    hadGap,
  };
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
    ((hints & UNKNOWN) === 0 || isIdentifier(text, start, end) ? null : findUnknown(text, { start, end, scan })) ??
    ((hints & LINE) === 0 || isIdentifier(text, start, end) ? null : findKeyMiddle(text, { start, end, scan }))
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
  if (kind === 'piped') return findPiped(text, start, free) ?? findHere(text, end);
  const secret = findAssigned(text, start, end, kind);
  if (secret !== null || !SPOKEN.has(kind)) return secret;
  return (
    findBeforeName(text, start, free) ??
    (READS_INPUT.test(text.slice(start, end + LONGEST_GAP))
      ? (findPiped(text, start, free) ?? findHere(text, end))
      : null)
  );
}

/** A key that is found by its end contains the secrets found in its lines. */
function add(secrets: FoundSecret[], secret: FoundSecret): void {
  let { from } = secret;
  for (let last = secrets.at(-1); last !== undefined && last.to > from; last = secrets.at(-1)) {
    from = Math.min(from, last.from);
    secrets.pop();
  }
  secrets.push({ ...secret, from });
}

function replaceAt(text: string, secrets: readonly FoundSecret[]): string {
  let result = '';
  let copied = 0;
  for (const { from, to, replacement } of secrets) {
    result += text.slice(copied, from) + replacement;
    copied = to;
  }
  return copied === 0 ? text : result + text.slice(copied);
}
