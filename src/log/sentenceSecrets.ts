/** Secrets in sentences and tables: `the password of root is …`, `| token | … |`, `Your API key:` with the key in the next line. */
import type { NameKind } from './secretNames.js';
import { lastGroup } from './secretNotation.js';
import { isLogin, isVeryRandom, looksChosen, looksRandom } from './secretValues.js';
import { type FoundSecret, matchOf } from './stickyMatch.js';

const SPACE = '(?:[ \\t]|\\\\t)';
/** Words of a sentence; a full stop ends it. */
const WORDS = String.raw`(?:${SPACE}{1,3}[\w@'’()/*~-]{1,40}(?:\.\w{1,20})?){0,6}?`;
/** What stands before the value. */
const SAYS = `(?:${SPACE}{0,2}[:=→|]|${SPACE}{1,2}(?:(?:is|are|was)(?: (?:still|now|again|just|currently|simply))?|(?:set|changed|reset|rotated|updated) to|becomes|lautet|ist|=>|->))${SPACE}{1,16}`;
const VALUE = String.raw`(?:\*\*|["'\`(])?([^\s"'\`\\|*]{6,400})`;
const SENTENCE = new RegExp(`${WORDS}${SAYS}${VALUE}`, 'y');
/** In a table without lines. */
const COLUMN = new RegExp(`(?:${SPACE}{2,40}|\\t|\\\\t)${VALUE}`, 'y');
const NEXT_LINE =
  /[ \t]{0,4}:[ \t]{0,4}(?:\r?\n|(?:\\{1,15}r)?\\{1,15}n){1,2}[ \t]{0,16}([A-Za-z0-9_+/=.~-]{16,4096})(?=\s|\\{1,15}[nr]|["']|$)/y;
/** A heading, and below it the secret alone. */
const BELOW =
  /[ \t]{0,4}:?[ \t]{0,4}(?:\r?\n|(?:\\{1,15}r)?\\{1,15}n){1,3}[ \t]{0,16}`?([A-Za-z0-9_+/-]{20,4096}={0,2})(?=`?[ \t]{0,4}(?:[\r\n\\"']|$))/y;
const AT_ONCE = new RegExp(`${SPACE}(?:[0-9] )?${VALUE}`, 'y');
/** In the quotes of Markdown, but not the word for handing something over. */
const QUOTED_AT_ONCE = /[ \t]`([^\s`]{6,200})(?=`)/y;
const PASS = /^pass$/i;
const LONGEST_SENTENCE = 240;
const SHORTEST_AT_ONCE = 20;
/** What a script sends when it is asked for a password. */
const SENT =
  /[:?* ]{0,4}\\{0,31}["'}]{1,2}(?:\s|\\{1,31}[nr]){1,20}send(?:_user)? (?:-- )?\\{0,31}["']([^"'\\\n]{4,100})/y;
/** With a number for its form, as routers print it. */
const NUMBERED = /[ \t][0-9][ \t]([^\s"'\\]{6,200})(?=[\s\\"']|$)/y;
const CHANGED = /\b(?:changed?|set|reset|rotated?|updated?)\b[^\n.]{0,60}$/i;
const CHANGED_TO = new RegExp(`${WORDS}${SPACE}{1,2}to${SPACE}{1,2}${VALUE}`, 'y');
const WITH = /(?:^|[^\w])(?:with|using|use|mit)(?: (?:the|this|a|dem|das))?[ \t]$/i;
const LOGIN = /[ \t]{0,2}:[ \t]{1,3}["'`]?[\w@.+-]{1,60}[ \t]{0,2}[/|:,][ \t]{0,2}([^\s"'`\\|]{6,200})/y;
const BASE64_BEFORE = /[A-Za-z0-9+/]+$/;
/** Of one line, as much as shows what it is. */
const [SHORTEST_BASE64, LONGEST_BASE64] = [24, 48];
const END_OF_SENTENCE = /[.,;:!?)\]}]+$/;

/**
 * @param start of the name
 * @param end of the name
 * @returns the secret that the sentence tells
 */
export function findInSentence(text: string, start: number, end: number, kind: NameKind): FoundSecret | null {
  // Every such secret has a digit, and most names in a text are followed by none.
  if (!/\d/.test(text.slice(end, end + LONGEST_SENTENCE))) return null;
  if (isEndOfBase64(text, end)) return null;
  const isRandom = (value: string) => looksRandom(value) && !/^[\w.-]*\w\(/.test(value);
  const isSure = (value: string) =>
    (value.length >= SHORTEST_AT_ONCE && isVeryRandom(value)) || /^0x[0-9a-f]{64}$/.test(value);
  const isTold = (value: string) => isRandom(value) || looksChosen(value);
  const test = kind === 'password' || kind === 'secret' || kind === 'chosen' ? isTold : isRandom;
  const secret =
    told(matchOf(SENTENCE, text, end), end, test) ??
    told(matchOf(COLUMN, text, end), end, isRandom) ??
    told(matchOf(NEXT_LINE, text, end), end, isRandom) ??
    told(matchOf(BELOW, text, end), end, isVeryRandom) ??
    told(matchOf(AT_ONCE, text, end), end, isSure);
  if (secret !== null || (kind !== 'password' && kind !== 'secret')) return secret;
  const before = text.slice(Math.max(0, start - 80), start);
  return (
    (CHANGED.test(before) ? told(matchOf(CHANGED_TO, text, end), end, looksChosen) : null) ??
    (PASS.test(text.slice(start, end)) ? null : told(matchOf(QUOTED_AT_ONCE, text, end), end, looksChosen)) ??
    (WITH.test(before) ? told(matchOf(AT_ONCE, text, end), end, looksChosen) : null) ??
    told(matchOf(NUMBERED, text, end), end, looksChosen) ??
    lastGroup(matchOf(SENT, text, end), end, 'password') ??
    findSent(text, start, end)
  );
}

/** @returns whether the name is the end of a line of base64 by chance; signs of base64 are in no word, so the word alone may be short */
function isEndOfBase64(text: string, end: number): boolean {
  const [run = ''] = BASE64_BEFORE.exec(text.slice(Math.max(0, end - LONGEST_BASE64), end)) ?? [];
  return run.length >= SHORTEST_BASE64 && isVeryRandom(run.replace(/[+/]/g, ''));
}

const OF_AUTHENTICATION =
  /\\{0,31}"?[ \t]\\{0,31}"?(?:(?:PLAIN|LOGIN|XOAUTH2)[ \t]|[a-z]\w{0,30}[ \t])?([^\s"'\\]{6,2000})(?=[\s\\"']|$)/y;

/** @returns the password after `AUTH`, as clients of mail servers and of Redis send it */
export function findAuthentication(text: string, end: number): FoundSecret | null {
  return told(
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
  return isCommand ? told(matchOf(SENT_ALONE, text, end), end, looksChosen) : null;
}

/** A name and a password behind a command. */
const LOGIN_ARGUMENTS = /[ \t](?:test[ \t])?[A-Za-z][\w@.+-]{0,60}[ \t]([^\s"'`\\|=]{8,200})(?=\s|["'\\]|$)/y;

const COMMAND = /^(?:login|auth)$/;

/** @returns the password in `Login: admin / …`, and in `login admin …` */
export function findInLogin(text: string, start: number, end: number): FoundSecret | null {
  const isStrong = (value: string) => looksChosen(value) && /[A-Z]/.test(value) && /[a-z]/.test(value);
  return (
    told(matchOf(LOGIN, text, end), end, looksChosen) ??
    (COMMAND.test(text.slice(start, end)) ? told(matchOf(LOGIN_ARGUMENTS, text, end), end, isStrong) : null)
  );
}

function told(match: RegExpExecArray | null, at: number, test: (value: string) => boolean): FoundSecret | null {
  const written = match?.[1] ?? '';
  const value = written.replace(END_OF_SENTENCE, '');
  if (match === null || !test(value)) return null;
  const secret = lastGroup(match, at, 'value');
  return secret === null ? null : { ...secret, to: secret.to - (written.length - value.length) };
}
