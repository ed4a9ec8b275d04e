/** Secrets in sentences and tables: `the password of root is …`, `| token | … |`, `Your API key:` with the key in the next line. */
import { isMember, isSlug } from './innocentValues.js';
import { isLowerRandom, isVeryRandom, looksRandom } from './randomText.js';
import type { NameKind } from './secretNames.js';
import { lastGroup } from './secretNotation.js';
import { isLogin, looksChosen, looksStrong } from './secretValues.js';
import { type FoundSecret, found, matchOf } from './stickyMatch.js';
import { isPublicToken } from './unknownTokens.js';

const SPACE = '(?:[ \\t]|\\\\t)';
/** Words of a sentence; a full stop ends it. */
const WORDS = String.raw`(?:${SPACE}{1,3}[\w@'’()/*~-]{1,40}(?:\.\w{1,20})?){0,6}?`;
const SAYS = `(?:${SPACE}{0,2}[:=→|]|${SPACE}{1,2}(?:(?:is|are|was|è|é)(?: (?:still|now|again|just|currently|simply))?|(?:set|changed|reset|rotated|updated) to|becomes|lautet|ist|est|es|=>|->))${SPACE}{1,16}`;
const VALUE = String.raw`(?:\*\*|\\{0,31}["'\`]|\()?((?:[^\s"'\`\\|*]|\*(?!\*)){6,400})`;
const SENTENCE = new RegExp(`${WORDS}${SAYS}${VALUE}`, 'y');
/** The words behind a name: one may be its value though no word says so. */
const NEXT_WORD = new RegExp(
  `[,?:]?${SPACE}{1,3}(?:\\*\\*|\\\\{0,31}["'\`]|\\()?((?:[^\\s"'\`\\\\|*()]|\\*(?!\\*)|'(?=s )){1,400})`,
  'y',
);
const PLAIN_WORD =
  /^(?!(?:ssh|ecdsa|sk)-|sha\d|-{0,2}(?:accessor|ids?|hash|digest|fingerprint|commit|request|checksum|version)\b)[\w@'’/~.,-]{1,40}(?<![.]):?$/;
const MOST_WORDS = 7;
/** Before a name: `use SECRET as the password`. */
const AS = /\bas(?: [\w-]{1,20}){0,3} $/;
const USE_AS =
  /\b(?:use|using|try|with|set|enter|take|have|and|is|:) {1,2}["'`]?([^\s"'`]{6,100})["'`]? {1,2}as(?: [\w-]{1,20}){0,3} $/;
/** In a table without lines. */
const COLUMN = new RegExp(`(?:${SPACE}{2,40}|\\t|\\\\t)${VALUE}`, 'y');
const NEXT_LINE =
  /[ \t]{0,4}:[ \t]{0,4}(?:\r?\n|(?:\\{1,15}r)?\\{1,15}n){1,2}[ \t]{0,16}([A-Za-z0-9_+/=.~-]{16,4096})(?=\s|\\{1,15}[nr]|["']|$)/y;
/** A heading, and below it the secret alone. */
const BELOW =
  /[ \t]{0,4}:?[ \t]{0,4}(?:\r?\n|(?:\\{1,15}r)?\\{1,15}n){1,3}[ \t]{0,16}`?([A-Za-z0-9_+/-]{20,4096}={0,2})(?=`?[ \t]{0,4}(?:[\r\n\\"']|[^\x20-\x7e]|$))/y;
const AT_ONCE = new RegExp(`${SPACE}${VALUE}`, 'y');
/** In the quotes of Markdown, but not the word for handing something over. */
const QUOTED_AT_ONCE = /[ \t]`([^\s`]{6,200})(?=`)/y;
const PASS = /^pass$/i;
const LONGEST_SENTENCE = 240;
const SHORTEST_AT_ONCE = 20;
/** The answer that a script sends when it is asked for a password. */
const SENT =
  /[:?* ]{0,4}\\{0,31}["'}]{1,2}(?:\s|\\{1,31}[nr]){1,20}send(?:_user)? (?:-- )?\\{0,31}["']([^"'\\\n]{4,100})/y;
/** With a number for its form, as routers print it. */
const NUMBERED = /[ \t][0-9][ \t]([^\s"'\\]{6,200})(?=[\s\\"']|$)/y;
const CHANGED = /\b(?:changed?|set|reset|rotated?|updated?)\b[^\n.]{0,60}$/i;
const CHANGED_TO = new RegExp(`${WORDS}${SPACE}{1,2}to${SPACE}{1,2}${VALUE}`, 'y');
const WITH = /(?:^|[^\w])(?:with|using|use|mit)(?: (?:the|this|a|dem|das))?[ \t]$/i;
const LOGIN =
  /[ \t]{0,2}(?::| are| is)[ \t]{1,3}["'`]?[\w@.+-]{1,60}["'`]?[ \t]{0,2}[/|:,][ \t]{0,2}["'`]?([^\s"'`\\|]{6,200})/y;
/** Enough of one line to recognise base64. */
const [SHORTEST_BASE64, LONGEST_BASE64] = [24, 48];
/** Tried only where the signs begin, not at each of them. */
const BASE64_BEFORE = new RegExp(`(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{${SHORTEST_BASE64},}$`);
/** Also text right behind it in other scripts, without a space. */
const END_OF_SENTENCE = /[.,;:!?)\]}]*[^\x20-\x7e]+$|[.,;:!?)\]}]+$/;

export function findInSentence(text: string, start: number, end: number, kind: NameKind): FoundSecret | null {
  // Every such secret has a digit, and most names in a text are followed by none.
  if (!hasDigit(text, end) || isEndOfBase64(text, end)) return null;
  const isRandom = (value: string) => looksRandom(value) && !/^[\w.-]*\w\(/.test(value) && !isMember(value);
  const isGiven = (value: string) => isRandom(value) || looksChosen(value);
  const isWord = kind === 'password' || kind === 'chosen';
  const test = (value: string) => (isWord || (kind === 'secret' && !isSlug(value)) ? isGiven(value) : isRandom(value));
  const secret =
    secretIn(matchOf(SENTENCE, text, end), end, test) ??
    secretIn(matchOf(COLUMN, text, end), end, isRandom) ??
    secretIn(matchOf(NEXT_LINE, text, end), end, isRandom) ??
    secretIn(matchOf(BELOW, text, end), end, isVeryRandom) ??
    findAmongWords(text, end, kind === 'password');
  if (secret !== null || (kind !== 'password' && kind !== 'secret')) return secret;
  const before = text.slice(Math.max(0, start - 80), start);
  return (
    (CHANGED.test(before) ? secretIn(matchOf(CHANGED_TO, text, end), end, looksChosen) : null) ??
    (PASS.test(text.slice(start, end)) ? null : secretIn(matchOf(QUOTED_AT_ONCE, text, end), end, looksChosen)) ??
    (WITH.test(before) ? secretIn(matchOf(AT_ONCE, text, end), end, looksChosen) : null) ??
    secretIn(matchOf(NUMBERED, text, end), end, looksChosen) ??
    lastGroup(matchOf(SENT, text, end), end, 'password') ??
    findSent(text, start, end)
  );
}

function hasDigit(text: string, from: number): boolean {
  const to = Math.min(text.length, from + LONGEST_SENTENCE);
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) return true;
  }
  return false;
}

function isSure(value: string): boolean {
  if (value.length < SHORTEST_AT_ONCE) return false;
  return (isVeryRandom(value) && !isPublicToken(value)) || /^0x[0-9a-f]{64}$/.test(value);
}

/** Right behind the name a secret needs less to be known as one. */
function isGiven(value: string, written: string): boolean {
  return isLowerRandom(value) || (/["'`]/.test(written) && looksRandom(value) && !isMember(value));
}

/** @returns the first of the words behind a name that can be nothing but a secret */
export function findAmongWords(text: string, end: number, isPassword: boolean): FoundSecret | null {
  let at = end;
  for (let count = 0; count < MOST_WORDS; count += 1) {
    const match = matchOf(NEXT_WORD, text, at);
    if (match === null) return null;
    const isFirst = count === 0;
    const secret = secretIn(
      match,
      at,
      (value) => isSure(value) || (isPassword && looksStrong(value)) || (isFirst && isGiven(value, match[0])),
    );
    if (secret !== null || !PLAIN_WORD.test(match[1] ?? '')) return secret;
    at += match[0].length;
  }
  return null;
}

export function findBeforeName(text: string, start: number, free: number): FoundSecret | null {
  const near = Math.max(free, start - 70);
  const last = text.slice(near, start);
  if (!last.includes(' as ') || !AS.test(last)) return null;
  const from = Math.max(free, start - LONGEST_SENTENCE);
  const before = text.slice(from, start);
  const match = USE_AS.exec(before);
  const value = match?.[1] ?? '';
  if (match === null || !(looksChosen(value) || looksRandom(value))) return null;
  return found(from + before.lastIndexOf(value), value, 'value');
}

/** @returns whether the name is the end of a line of base64 by chance; signs of base64 are in no word, so the word alone may be short */
function isEndOfBase64(text: string, end: number): boolean {
  const run = BASE64_BEFORE.exec(text.slice(Math.max(0, end - LONGEST_BASE64), end))?.[0];
  return run !== undefined && isVeryRandom(run.replace(/[+/]/g, ''));
}

const OF_AUTHENTICATION =
  /\\{0,31}"?[ \t]\\{0,31}"?(?:(?:PLAIN|LOGIN|XOAUTH2)[ \t]|[a-z]\w{0,30}[ \t])?([^\s"'\\]{6,2000})(?=[\s\\"']|$)/y;

/** @returns the password after `AUTH`, as clients of mail servers and of Redis send it */
export function findAuthentication(text: string, end: number): FoundSecret | null {
  return secretIn(
    matchOf(OF_AUTHENTICATION, text, end),
    end,
    (value) => looksChosen(value) || looksRandom(value) || isLogin(value),
  );
}

/** At the beginning of a line, as clients of mail and file servers send it. */
const SENT_ALONE = /[ \t]([^\s"'\\]{6,100})(?=\s|\\|$)/y;

/** @returns the password after `PASS` */
function findSent(text: string, start: number, end: number): FoundSecret | null {
  const isCommand =
    text.startsWith('PASS', start) &&
    end - start === 4 &&
    /(?:^|[\n"'>]|\\n)[ \t]?$/.test(text.slice(Math.max(0, start - 3), start));
  return isCommand ? secretIn(matchOf(SENT_ALONE, text, end), end, looksChosen) : null;
}

/** A name and a password behind a command. */
const LOGIN_ARGUMENTS = /[ \t](?:test[ \t])?[A-Za-z][\w@.+-]{0,60}[ \t]([^\s"'`\\|=]{8,200})(?=\s|["'\\]|$)/y;

const COMMAND = /^(?:login|auth)$/;

/** @returns the password in `Login: admin / …`, and in `login admin …` */
export function findInLogin(text: string, start: number, end: number): FoundSecret | null {
  return (
    secretIn(matchOf(LOGIN, text, end), end, looksChosen) ??
    (COMMAND.test(text.slice(start, end)) ? secretIn(matchOf(LOGIN_ARGUMENTS, text, end), end, looksStrong) : null)
  );
}

export function secretIn(
  match: RegExpExecArray | null,
  at: number,
  test: (value: string) => boolean,
): FoundSecret | null {
  const written = match?.[1] ?? '';
  const value = /\d!$/.test(written) ? written : written.replace(END_OF_SENTENCE, '');
  if (match === null || !test(value)) return null;
  const secret = lastGroup(match, at, 'value');
  return secret === null ? null : { ...secret, to: secret.to - (written.length - value.length) };
}
