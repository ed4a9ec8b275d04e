/**
 * Values after a name that suggests a secret, in any notation: environment, JSON, YAML, code, XML, options, headers, `.netrc`.
 */
import type { NameKind } from './secretNames.js';
import { isCode, isLogin, isPlaceholder, isSecretValue, looksRandom } from './secretValues.js';
import { type FoundSecret, found, matchOf } from './stickyMatch.js';

/** Between name and value; a quote may close the name, at any depth of JSON inside JSON. */
const SEPARATOR = /(\\{0,31}["'`])?\]?[ \t]{0,8}(=>|:=|=(?![=~])|:(?!:))[ \t]{0,8}/y;
/** `"name": "DB_PASS", "value": "…"`, and the same in YAML. */
const NAME_AND_VALUE =
  /\\{0,31}["']?(?:\s|\\{1,15}n){0,32},?(?:\s|\\{1,15}n){0,32}\\{0,31}["']?value\\{0,31}["']?\s{0,4}[:=]\s{0,4}/iy;
const PHP_DEFINE = /["']\s{0,4},\s{0,4}/y;
const SPACE = /[ \t]{1,4}/y;
const SPACES_AND_LINES = /[ \t]{0,8}(?:\r?\n|\\{1,15}n)?[ \t]{1,16}|[ \t]{1,8}/y;
const QUOTE = /(\\{0,31})(["'`])/y;
/** Bounded, so that a text of nothing but names takes linear time; the rest of a longer value is included. */
const PLAIN_VALUE = /[^\s"'`\\,;&<>]{1,128}/y;
const REST_OF_PLAIN_VALUE = /[^\s"'`\\,;&<>]*/y;
const WITHIN_TAGS = /[^<>\r\n"\\]{1,4096}(?=<\/)/y;
const AUTHORIZATION =
  /\\{0,31}["'`]?((?:bearer|basic|token|digest|apikey|ssws|negotiate)\s{1,4})?(?:token=\\{0,31}["']?)?([^\s"'\\,;`]{4,})/iy;
const BEARER = /\s{1,4}([A-Za-z0-9._~+/=-]{8,})/y;
const COOKIES = /[^\r\n"'\\`]{8,1024}/y;
const PUTTY_LINES =
  /: \d{1,3}(?:\s|\\{1,15}[nr]){1,4}((?:[A-Za-z0-9+/=]{20,80}(?:(?:\s|\\{1,15}[nr]){1,4}(?=[A-Za-z0-9+/=]{20,80}(?![^\s"\\])))?)+)/y;
const PGPASS = /:[\w*.-]{1,64}:[\w*.-]{1,64}:([^\s"'\\]{3,200})/y;
const SHORTEST_WEB_KEY = 40;
const LOGIN_OPTION = /[ \t]{1,4}["']?([^\s:"'\\$<{[]{1,200}):([^\s"'\\]{1,400})/y;
const OPTION_VALUE = /[ \t]{1,4}["']?([^\s"'\\]{3,400})/y;
/** How far before an option its command is looked for. */
const COMMAND_LENGTH = 200;
const LONGEST_PLAIN = 128;
const LONGEST_QUOTED = 16 * 1024;

interface Place {
  readonly from: number;
  readonly isQuoted: boolean;
  readonly isTight: boolean;
}

/** @returns the secret after the name at `start` to `end`; null if there is none */
export function findAssigned(text: string, start: number, end: number, kind: NameKind): FoundSecret | null {
  switch (kind) {
    case 'bearer':
      return findBearer(text, end);
    case 'authorization':
      return findAuthorization(text, end);
    case 'cookie':
      return findCookies(text, end);
    case 'private_lines':
      return findPuttyKey(text, end);
    case 'signature':
      return isInQuery(text, start) ? findValue(text, start, end, 'key_data') : null;
    default:
      return findValue(text, start, end, kind);
  }
}

/** @returns the secret after `-p`, `-u` or `-a` of a program that expects one there */
export function findBehindOption(text: string, start: number, end: number): FoundSecret | null {
  const letter = text.charAt(start + 1);
  if (letter !== 'p' && letter !== 'u' && letter !== 'a' && letter !== '-') return null;
  const isLong = letter === '-';
  if (isLong ? end - start !== 6 || !text.startsWith('--user', start) : end - start > 2 && letter !== 'p') return null;
  const before = text.slice(Math.max(0, start - COMMAND_LENGTH), start);
  const command = before.slice(
    Math.max(before.lastIndexOf('\n'), before.lastIndexOf('|'), before.lastIndexOf('&')) + 1,
  );
  if (isLong || letter === 'u') {
    if (!/\b(?:curl|wget|http)\b/.test(command)) return null;
    return lastGroup(matchOf(LOGIN_OPTION, text, end), end, 'password');
  }
  if (letter === 'p' && end - start > 2) {
    const password = text.slice(start + 2, end) + (matchOf(PLAIN_VALUE, text, end)?.[0] ?? '');
    return /\b(?:mysql\w*|mariadb)\b/.test(command) ? found(start + 2, password, 'password') : null;
  }
  const programs = letter === 'a' ? /\bredis-cli\b/ : /\b(?:login|sshpass|mongo\w*)\b/;
  return programs.test(command) ? lastGroup(matchOf(OPTION_VALUE, text, end), end, 'password') : null;
}

/** @returns the match's last group, with which it ends; null without a match, and for a placeholder */
function lastGroup(match: RegExpExecArray | null, at: number, kind: string): FoundSecret | null {
  const value = match?.at(-1) ?? '';
  if (match === null || isPlaceholder(value)) return null;
  return found(at + match[0].length - value.length, value, kind);
}

function findValue(text: string, start: number, end: number, kind: NameKind): FoundSecret | null {
  const place = placeOf(text, start, end, kind);
  if (place === null) return null;
  const { from, isQuoted, isTight } = place;
  const isTag = text.charAt(end) === '>';
  const value = isTag
    ? (matchOf(WITHIN_TAGS, text, from)?.[0] ?? '')
    : isQuoted
      ? text.slice(from, quotedEnd(text, from))
      : (matchOf(PLAIN_VALUE, text, from)?.[0] ?? '').replace(/[)\]}]+$/, '');
  const to = from + value.length;
  const name = text.slice(start, end);
  const endsLine = /^(?:\\+[nr]|[ \t]*$|[ \t]*[\r\n"]|\s*\\")/.test(text.slice(to, to + 8)) || to >= text.length;
  const known = { kind, name, value, isQuoted: isQuoted || isTag, isTight, endsLine };
  if (value === '' || !isSecretValue(known)) return null;
  const rest = isQuoted || isTag ? '' : (matchOf(REST_OF_PLAIN_VALUE, text, to)?.[0] ?? '');
  return found(from, value.length < LONGEST_PLAIN ? value : value + rest, 'value');
}

function placeOf(text: string, start: number, end: number, kind: NameKind): Place | null {
  const separator = matchOf(SEPARATOR, text, end);
  if (separator !== null) {
    const from = end + separator[0].length;
    return quotedPlace(text, from, separator[0] === '=');
  }
  const next = text.charAt(end);
  if (next === '>') return text.charAt(start - 1) === '<' ? { from: end + 1, isQuoted: false, isTight: false } : null;
  if (next === ' ' || next === '\t' || next === '\n' || next === '\r') {
    const isOption = text.charAt(start) === '-';
    if (isOption || isSetBefore(text, start)) return behind(SPACE, text, end, isOption || kind !== 'password');
    if (
      kind === 'password' &&
      /\blogin\s{1,4}\S{1,80}\s{1,8}$/.test(text.slice(Math.max(0, start - COMMAND_LENGTH), start))
    ) {
      const place = behind(SPACES_AND_LINES, text, end, true);
      if (place !== null && next !== '\n') return place;
    }
    if (kind === 'password' && next === ' ' && /^["']/.test(text.charAt(end + 1)))
      return quotedPlace(text, end + 1, false);
  }
  if (next === "'" || next === '"') {
    const isDefined = /define\(\s{0,4}["']$/.test(text.slice(Math.max(0, start - 16), start));
    if (isDefined) return behind(PHP_DEFINE, text, end, false);
  }
  if (next === '"' || next === '\\' || next === '\n' || next === '\r') return behind(NAME_AND_VALUE, text, end, true);
  return null;
}

function behind(sticky: RegExp, text: string, at: number, isTight: boolean): Place | null {
  const match = matchOf(sticky, text, at);
  return match === null ? null : quotedPlace(text, at + match[0].length, isTight);
}

function quotedPlace(text: string, at: number, isTight: boolean): Place {
  const quote = matchOf(QUOTE, text, at);
  return { from: at + (quote?.[0].length ?? 0), isQuoted: quote !== null, isTight };
}

/** `ENV NAME value` of a Dockerfile, `set -x NAME value` of fish. */
function isSetBefore(text: string, start: number): boolean {
  return /(?:^|[^\w-]|\\[nt])(?:ENV|ARG|set -g?x|set -Ux) $/.test(text.slice(Math.max(0, start - 10), start));
}

function isInQuery(text: string, start: number): boolean {
  return /[?&;](?:X-Amz-)?$/.test(text.slice(Math.max(0, start - 8), start)) || text.startsWith('X-Amz-', start);
}

/**
 * @param from after an opening quote that has `n` backslashes before it
 * @returns the position of its closing quote, or of the line's end. A run of backslashes before a quote closes the text if `n`
 *   remain after removing pairs of escaped ones, or if it is shorter: then an outer text ends
 */
function quotedEnd(text: string, from: number): number {
  const quote = text.charAt(from - 1);
  let depth = 0;
  while (text.charAt(from - 2 - depth) === '\\') depth += 1;
  const limit = Math.min(text.length, from + LONGEST_QUOTED);
  for (let at = from; at < limit; at += 1) {
    const character = text.charAt(at);
    if (character === '\n' || character === '\r') return at;
    if (character === quote && depth === 0) return at;
    if (character !== '\\') continue;
    const run = at;
    while (text.charAt(at) === '\\') at += 1;
    const length = at - run;
    if (text.charAt(at) !== quote && text.charAt(at) !== '"') continue;
    if (length <= depth || length % (2 * (depth + 1)) === depth) return run + (length <= depth ? 0 : length - depth);
  }
  return limit;
}

function findBearer(text: string, end: number): FoundSecret | null {
  const match = matchOf(BEARER, text, end);
  return /\d/.test(match?.[1]?.slice(0, 64) ?? '') ? lastGroup(match, end, 'authorization') : null;
}

function findAuthorization(text: string, end: number): FoundSecret | null {
  const separator = matchOf(SEPARATOR, text, end);
  if (separator === null) return null;
  const at = end + separator[0].length;
  const match = matchOf(AUTHORIZATION, text, at);
  if (match === null) return null;
  const [whole, scheme, value = ''] = match;
  if (isPlaceholder(value)) return null;
  if (scheme === undefined && (value.length < 16 || isCode(value))) return null;
  const length = value.length + (scheme === undefined ? 0 : whole.length - value.length - quoteLength(whole));
  return found(at + whole.length - length, whole.slice(whole.length - length), 'authorization');
}

/** The part of a PuTTY key that has no mark of its own. */
function findPuttyKey(text: string, end: number): FoundSecret | null {
  const match = matchOf(PUTTY_LINES, text, end);
  const key = match?.[1] ?? '';
  return match === null ? null : found(end + match[0].length - key.length, key, 'private_key');
}

/** @returns the private part of a JSON Web Key, `"d":"…"`, next to its kind */
export function findWebKey(text: string, end: number): FoundSecret | null {
  const separator = matchOf(SEPARATOR, text, end);
  if (separator?.[1] === undefined) return null;
  const place = quotedPlace(text, end + separator[0].length, false);
  const value = text.slice(place.from, quotedEnd(text, place.from));
  if (!place.isQuoted || value.length < SHORTEST_WEB_KEY || !looksRandom(value)) return null;
  return /\bkty\b/.test(text.slice(Math.max(0, end - 2_000), end + 2_000))
    ? found(place.from, value, 'private_key')
    : null;
}

/** @param end after a port of PostgreSQL, as in a line of `.pgpass` */
export function findPasswordOfPostgres(text: string, end: number): FoundSecret | null {
  return lastGroup(matchOf(PGPASS, text, end), end, 'password');
}

function quoteLength(text: string): number {
  return /^\\{0,31}["'`]?/.exec(text)?.[0].length ?? 0;
}

function findCookies(text: string, end: number): FoundSecret | null {
  if (text.charAt(end) !== ':' && !/^\\{0,31}["']/.test(text.slice(end, end + 4))) return null;
  const separator = matchOf(SEPARATOR, text, end);
  if (separator === null) return null;
  const at = end + separator[0].length;
  const from = at + (matchOf(QUOTE, text, at)?.[0].length ?? 0);
  const value = matchOf(COOKIES, text, from)?.[0] ?? '';
  const isSecret = value.split(';').some((pair) => {
    const content = pair.slice(pair.indexOf('=') + 1);
    return pair.includes('=') && (looksRandom(content) || isLogin(content));
  });
  return isSecret ? found(from, value, 'cookie') : null;
}
