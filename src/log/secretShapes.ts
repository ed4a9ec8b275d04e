/**
 * Finds what looks like a secret: a token with its issuer's prefix, a value after a name that suggests a secret, a login in a
 * URL, a private key.
 *
 * It first looks for places at which a secret may begin or its name may end, and tries a pattern only at those (sticky). Most
 * texts have hardly any. Every pattern takes linear time, because the text may be an attacker's: its repeats are bounded, or
 * consumed by the match, or end at a character that the next one begins with.
 */
import { asciiView } from './asciiView.js';
import { findAssigned, findBehindOption, findPasswordOfPostgres, findWebKey } from './assignedSecrets.js';
import { findPrivateKey } from './privateKeys.js';
import { findMarked, WEBHOOK, WITHIN_MARK } from './secretMarks.js';
import { nameKindOf, SOME_NAME } from './secretNames.js';
import { isPlaceholder } from './secretValues.js';
import { type FoundSecret, matchEnd, matchOf } from './stickyMatch.js';

const BOT_TOKEN = /(?::|%3[Aa])[A-Za-z0-9_-]{30,}/y;
const LOGIN = /:\/\/([^\s/:@"'\\[]*):([^\s/@"'\\]+)@/y;
const LONE_LOGIN = /:\/\/([^\s/:@"'\\[]{20,})@/y;
/** A port, followed by a query or a fragment with an `@` in it. */
const PORT = /^\d{1,5}[?#]/;
const PORT_OF_POSTGRES = /^(?:543\d|6432)$/;

/**
 * Each ends with a character of a word in which a secret may be, or with the sign behind one, or with `://`. They are separate,
 * and end with what must stand before, because the engine then rejects most positions at once.
 */
const PLACES: readonly RegExp[] = [
  SOME_NAME,
  new RegExp(WITHIN_MARK, 'g'),
  // Behind an escape of JSON, of a URL or of a terminal.
  /[\\%[;](?:[nrtbf]|u\w{4}|[0-9A-Fa-f]{2}|\d{0,4}m)(?:-(?:[pua]|-user|----)|(?:543\d|6432)(?=:))/g,
  new RegExp(
    [
      '://',
      // A bot's token, or a port of PostgreSQL.
      String.raw`[:%](?<=\d.)(?:(?=(?:3[Aa])?[A-Za-z0-9_-]{30})|(?<=(?:^|[^\w-])(?:543\d|6432).))`,
      // An option, or a private key.
      String.raw`-(?:[pua](?<![\w-]-.)|-user(?<![\w-].{6})|----(?<![\w-].{5}))`,
      // The `"d"` of a web key.
      String.raw`d(?=["\\])(?<![\w-]d)`,
    ].join('|'),
    'g',
  ),
];
const REST_OF_WORD = /[\w-]*/y;
const WORD_CHARACTER = /[\w-]/;
/** After their first sign. */
const URL_ESCAPE = /[0-9A-Fa-f]{2}/y;
const TERMINAL_ESCAPE = /\d{0,4}m/y;

/** @returns the text with everything that looks like a secret replaced by a marker; doing it twice changes nothing more */
export function replaceSecrets(text: string): string {
  const clean = replaceSeen(text, text);
  const view = asciiView(clean);
  return view === clean ? clean : replaceSeen(clean, view);
}

/**
 * @param shown what is replaced in
 * @param text as long, in which is looked
 */
function replaceSeen(shown: string, text: string): string {
  const next = PLACES.map((place) => placeFrom(place, text, 0));
  let result = '';
  let copied = 0;
  let end = 0;
  for (let at = Math.min(...next); at < text.length; ) {
    // A word that has many secrets in it is read once.
    if (at >= end) end = matchEnd(REST_OF_WORD, text, at);
    const secret =
      at - 2 >= copied && text.startsWith('://', at - 2)
        ? findInAddress(text, at - 2)
        : findInWord(text, startOfWord(text, at, copied), end, copied);
    const from = secret?.to ?? Math.max(end, at + 1);
    for (const [index, place] of PLACES.entries()) {
      if ((next[index] ?? 0) < from) next[index] = placeFrom(place, text, from);
    }
    // What is left of a word behind a secret is a word itself.
    at = secret?.to ?? Math.min(...next);
    if (secret === null) continue;
    result += shown.slice(copied, secret.from) + secret.replacement;
    copied = secret.to;
  }
  return copied === 0 ? shown : result + shown.slice(copied);
}

function placeFrom(pattern: RegExp, text: string, from: number): number {
  const end = matchEnd(pattern, text, from);
  return end > 0 ? end - 1 : text.length;
}

function startOfWord(text: string, at: number, free: number): number {
  let start = at;
  while (start > free && WORD_CHARACTER.test(text.charAt(start - 1))) start -= 1;
  return start;
}

/** @param free the text before it is replaced already */
function findInWord(text: string, start: number, end: number, free: number): FoundSecret | null {
  if (start === end) return null;
  const begin = behindEscape(text, start);
  const first = text.charAt(begin);
  const marked = findMarked(text, begin, end);
  if (marked !== null) return marked;
  if (first === '-') {
    const secret = text.startsWith('-----', begin)
      ? findPrivateKey(text, begin, free)
      : findBehindOption(text, begin, end);
    if (secret !== null) return secret;
  }
  const next = text.charAt(end);
  if (next === ':' || next === '%') {
    const secret = PORT_OF_POSTGRES.test(text.slice(Math.max(start, end - 5), end))
      ? findPasswordOfPostgres(text, end)
      : findBotToken(text, start, end);
    if (secret !== null) return secret;
  }
  if (first === 'd' && end - start === 1) return findWebKey(text, end);
  const kind = nameKindOf(text, start, end);
  return kind === null ? null : findAssigned(text, begin, end, kind);
}

/** @returns where the word begins: `\nsk-…` in JSON, `%20sk-…` in a URL, `[31msk-…` in terminal output */
function behindEscape(text: string, start: number): number {
  const before = text.charAt(start - 1);
  if (before === '\\') {
    const letter = text.charAt(start);
    return letter === 'u' ? start + 5 : 'nrtbf'.includes(letter) ? start + 1 : start;
  }
  if (before !== '%' && before !== '[' && before !== ';') return start;
  return matchEnd(before === '%' ? URL_ESCAPE : TERMINAL_ESCAPE, text, start) || start;
}

function findBotToken(text: string, start: number, end: number): FoundSecret | null {
  let from = end;
  while (from > start && /\d/.test(text.charAt(from - 1))) from -= 1;
  if (end - from < 6) return null;
  const to = matchEnd(BOT_TOKEN, text, end);
  return to > 0 ? { from, to, replacement: '[redacted:bot_token]' } : null;
}

/** @param at the colon of `://` */
function findInAddress(text: string, at: number): FoundSecret | null {
  const webhook = matchOf(WEBHOOK, text, at + 3);
  if (webhook !== null) {
    const host = webhook.slice(1).find((place) => place !== undefined) ?? '';
    return { from: at + 3 + host.length, to: at + 3 + webhook[0].length, replacement: '[redacted:webhook]' };
  }
  const login = matchOf(LOGIN, text, at);
  if (login !== null) {
    const [whole, user = '', password = ''] = login;
    if (PORT.test(password) || isPlaceholder(password)) return null;
    return { from: at + 4 + user.length, to: at + whole.length - 1, replacement: '[redacted:password]' };
  }
  const lone = matchOf(LONE_LOGIN, text, at);
  if (lone === null || !/\d/.test(lone[1] ?? '')) return null;
  return { from: at + 3, to: at + lone[0].length - 1, replacement: '[redacted:password]' };
}
