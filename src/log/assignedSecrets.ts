/**
 * Values after a name that suggests a secret, in any notation: environment, JSON, YAML, code, XML, options, `.netrc`.
 */
import { findInCall, findInClient, findInStatement } from './callSecrets.js';
import { findArgument, findCookieOption } from './commandSecrets.js';
import { findAuthorization, findBearer, findCookies, findSession } from './headerSecrets.js';
import type { NameKind } from './secretNames.js';
import {
  LONGEST_PLAIN,
  lastGroup,
  PLAIN_VALUE,
  quotedEnd,
  SEPARATOR,
  type ValuePlace,
  valuePlace,
} from './secretNotation.js';
import { isSecretValue, looksStrong } from './secretValues.js';
import { findAmongWords, findAuthentication, findInLogin, findInSentence, secretIn } from './sentenceSecrets.js';
import { type FoundSecret, matchEnd, matchOf } from './stickyMatch.js';
import { findInInsert, findInList, findInTable } from './tableSecrets.js';

/** `"name": "DB_PASS", "value": "…"`, and the same in YAML. */
const NAME_AND_VALUE =
  /\\{0,31}["']?(?:\s|\\{1,15}n){0,32},?(?:\s|\\{1,15}n){0,32}\\{0,31}["']?value\\{0,31}["']?\s{0,4}[:=]\s{0,4}/iy;
const VALUE_OF_INPUT = /["'][^<>\n]{0,200}?[ \t]value=(?=["'])/y;
/** `<key>Password</key><string>…`, `<name>…</name><value>…`, and a value within its element. */
const NEXT_ELEMENT = /<\/\w{1,20}>(?:\s|\\{1,15}[nrt]){0,40}<\w{1,20}(?:\s[^<>]{0,80})?>/y;
const WITHIN_ELEMENT = /><(?:value|string)>/iy;
const END_OF_TAG = /\\{0,31}">(?=[^<>\s])/y;
const ATTRIBUTES = /[ \t][^<>\n]{0,80}>/y;
const PHP_DEFINE = /["']\s{0,4},\s{0,4}/y;
const SPACE = /(?:[ \t]{1,4}--\w{1,20}(?=[ \t]))?[ \t]{1,4}/y;
const SPACES_AND_LINES = /[ \t]{0,8}(?:\r?\n|\\{1,15}n)?[ \t]{1,16}|[ \t]{1,8}/y;
const REST_OF_PLAIN_VALUE = /[^\s"'`\\,;&<>]*/y;
/** The further values of a list in a variable. */
const MORE_VALUES = /(?:,[A-Za-z0-9+/=_-]{16,}(?![\w:]))+/y;
const WITHIN_TAGS = /[^<>\r\n"\\]{1,4096}(?=<\/)/y;
/** A form in parts, as browsers and curl send it. */
const PART_OF_FORM = /\bname=\\{0,31}"$/;
const BODY_OF_FORM = /\\{0,31}"(?:(?:\r?\n|(?:\\{1,31}r)?\\{1,31}n)){2}/y;
const PASS = /^pass$/i;
const STRING = /\\{0,31}["']/y;
const OPENED_LIST = /[[({][ \t]{0,4}(?=\\{0,31}["'])/y;
/** Names whose value follows after a space. */
const ALONE = /^(?:login|auth|unseal|(?:add-)?authtoken|requirepass|masterauth|bindpw|rootpw)$/;
/** `machine … login … password`, as in `.netrc`; and commands that name their argument. */
const BEFORE_PASSWORD = /\blogin\s{1,4}\S{1,80}\s{1,8}$|\b(?:mysqladmin|nmcli)\b[^\n|;]{0,180}$/;
const ARN = /\barn:[\w:-]{0,100}$/;
/** A call that takes a secret; others make one, or have the name of one. */
const SETTER = /^(?:set|with|use|put|update|change|hash)/i;
/** As wallets have people write them down: 12 to 24 words. */
const PHRASE = /[\\"'=: ]{1,40}((?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![a-z])/y;
/** A test that passed: `--- PASS: TestLogin2 (0.01s)`. */
const RESULT = /^pass: (?:test|\S{1,80} ?\(\d)/i;
const MASKED = /::([^\s"']{4,400})/y;
/** A list of accounts. */
const OF_ACCOUNT = /:([^\s"'`\\:,]{8,200})(?=[\s"'`\\,]|$)/y;
/** Signs that follow a value without a space, and say nothing about it. */
const BEHIND_VALUE = /[)\]}]*[^\x20-\x7e]+$/;
/** Before a variable of an environment that is set. */
const LINE_START = /(?:^|[\n"'`]|\\n|[^\t-\x7e])[ \t+-]{0,8}(?:export |set |ENV |-e )?$/;
/** Commands, behind which an option may follow. */
const COMMAND = /^(?:login|auth)$/;
const VALUE = '[redacted:value]';
/** How far before a name its command is looked for. */
const COMMAND_LENGTH = 200;

export function findAssigned(text: string, start: number, end: number, kind: NameKind): FoundSecret | null {
  switch (kind) {
    case 'bearer':
      return findBearer(text, end);
    case 'authorization':
      return findAuthorization(text, end);
    case 'cookie':
      return text.charAt(start) === '-' ? findCookieOption(text, end) : findCookies(text, end);
    case 'session':
      return findSession(text, end) ?? findValue(text, start, end, kind);
    case 'command':
      return findArgument(text, start, end) ?? (text.charAt(end) === '=' ? findPassphrase(text, start, end) : null);
    case 'signature':
      return isInQuery(text, start) ? findValue(text, start, end, 'key_data') : null;
    case 'call':
      return findInCall(text, end, false);
    case 'client':
      return findInClient(text, end);
    case 'words':
      return lastGroup(matchOf(PHRASE, text, end), end, 'value');
    case 'spoken_key':
      return findAmongWords(text, end, false);
    case 'lone_key':
      return findValue(text, start, end, kind);
    case 'account':
      return secretIn(matchOf(OF_ACCOUNT, text, end), end, looksStrong);
    case 'mask':
      return lastGroup(matchOf(MASKED, text, end), end, 'value');
    case 'variable':
      return LINE_START.test(text.slice(Math.max(0, start - 16), start)) ? findValue(text, start, end, kind) : null;
    case 'auth':
    case 'login':
      return (
        findValue(text, start, end, kind) ??
        findInCall(text, end, false) ??
        findInLogin(text, start, end) ??
        (text.startsWith('AUTH', end - 4) ? findAuthentication(text, end) : null)
      );
    default:
      if (RESULT.test(text.slice(start, end + 100))) return null;
      return (
        findValue(text, start, end, kind) ??
        findInSentence(text, start, end, kind) ??
        (kind === 'password' || SETTER.test(text.slice(start, end)) ? findInCall(text, end, true) : null) ??
        findInStatement(text, end, kind === 'password') ??
        findInTable(text, start, end) ??
        findInInsert(text, start, end) ??
        findInList(text, end)
      );
  }
}

/** A command and a setting may have the same name. */
function findPassphrase(text: string, start: number, end: number): FoundSecret | null {
  return /passphrase$/i.test(text.slice(start, end)) ? findValue(text, start, end, 'password') : null;
}

function findValue(text: string, start: number, end: number, kind: NameKind): FoundSecret | null {
  const place = placeOf(text, start, end, kind);
  if (place === null || isPartOfArn(text, start)) return null;
  const isQuoted = place.isQuoted || place.isElement === true;
  const value = valueAt(text, place);
  const to = place.from + value.length;
  const name = text.slice(start, end);
  const endsLine = /^(?:\\+[nr]|[ \t]*$|[ \t]*[\r\n"]|\s*\\")/.test(text.slice(to, to + 8)) || to >= text.length;
  const judged = isQuoted ? value : value.replace(BEHIND_VALUE, '') || value;
  if (!isSecretValue({ kind, name, value: judged, isQuoted, isTight: place.isTight, endsLine })) return null;
  const isOption = place.isTight && COMMAND.test(name) && value.includes('=');
  return isOption ? null : { from: place.from, to: endOfValue(text, to, value, isQuoted), replacement: VALUE };
}

function isPartOfArn(text: string, start: number): boolean {
  return text.charAt(start - 1) === ':' && ARN.test(text.slice(Math.max(0, start - 120), start));
}

function valueAt(text: string, { from, isQuoted, isElement }: ValuePlace): string {
  if (isElement) return matchOf(WITHIN_TAGS, text, from)?.[0] ?? '';
  if (isQuoted) return text.slice(from, quotedEnd(text, from));
  return (matchOf(PLAIN_VALUE, text, from)?.[0] ?? '').replace(/[)\]}]+$/, '');
}

function endOfValue(text: string, to: number, value: string, isQuoted: boolean): number {
  const end = isQuoted || value.length < LONGEST_PLAIN ? to : matchEnd(REST_OF_PLAIN_VALUE, text, to);
  return isQuoted ? end : matchEnd(MORE_VALUES, text, end) || end;
}

function placeOf(text: string, start: number, end: number, kind: NameKind): ValuePlace | null {
  const separator = matchOf(SEPARATOR, text, end);
  if (separator !== null) {
    const from = end + separator[0].length;
    const opened = kind === 'some_key' ? matchEnd(OPENED_LIST, text, from) : 0;
    return valuePlace(text, opened || from, separator[0] === '=');
  }
  const next = text.charAt(end);
  const element = placeInElement(text, start, end);
  if (element > 0) return { from: element, isQuoted: false, isTight: false, isElement: true };
  if (next === ' ' || next === '\t' || next === '\n' || next === '\r') {
    const isOption = text.charAt(start) === '-';
    const isArgument = isOption || isSetBefore(text, start) || ALONE.test(text.slice(start, end));
    if (isArgument) return behind(SPACE, text, end, isOption || kind !== 'password');
    if (
      kind === 'password' &&
      next !== '\n' &&
      BEFORE_PASSWORD.test(text.slice(Math.max(0, start - COMMAND_LENGTH), start))
    )
      return behind(SPACES_AND_LINES, text, end, true);
    // The word for handing something over.
    const isVerb = PASS.test(text.slice(start, end));
    if (kind === 'password' && next === ' ' && !isVerb && matchEnd(STRING, text, end + 1) > 0)
      return valuePlace(text, end + 1, false);
  }
  if ((next === "'" || next === '"') && /\btype=["']$/.test(text.slice(Math.max(0, start - 8), start))) {
    return behind(VALUE_OF_INPUT, text, end, false);
  }
  const form = text.slice(Math.max(0, start - 40), start);
  const body = PART_OF_FORM.test(form) ? behind(BODY_OF_FORM, text, end, true) : null;
  if (body !== null) return body;
  if (next === "'" || next === '"') {
    const isDefined = /define\(\s{0,4}["']$/.test(text.slice(Math.max(0, start - 16), start));
    if (isDefined) return behind(PHP_DEFINE, text, end, false);
  }
  if (next === '"' || next === "'" || next === '\\' || next === '\n' || next === '\r')
    return behind(NAME_AND_VALUE, text, end, true);
  return null;
}

/** @returns where the value begins that an element of XML holds; zero if there is none */
function placeInElement(text: string, start: number, end: number): number {
  const next = text.charAt(end);
  if (next === '<') return matchEnd(NEXT_ELEMENT, text, end);
  if (next === '"' || next === '\\') return matchEnd(END_OF_TAG, text, end);
  if (text.charAt(start - 1) !== '<') return 0;
  if (next === '>') return matchEnd(WITHIN_ELEMENT, text, end) || end + 1;
  return next === ' ' ? matchEnd(ATTRIBUTES, text, end) : 0;
}

function behind(sticky: RegExp, text: string, at: number, isTight: boolean): ValuePlace | null {
  const match = matchOf(sticky, text, at);
  return match === null ? null : valuePlace(text, at + match[0].length, isTight);
}

/** `ENV NAME value` of a Dockerfile, `set -x NAME value` of fish, `configure set NAME value`. */
function isSetBefore(text: string, start: number): boolean {
  return /(?:^|[^\w-]|\\[nt])(?:ENV|ARG|set -g?x|set -Ux|config(?:ure)? set|config(?: --\w{1,10})?) $/.test(
    text.slice(Math.max(0, start - 20), start),
  );
}

function isInQuery(text: string, start: number): boolean {
  return /[?&;]$/.test(text.charAt(start - 1));
}
