/** Decides whether the value after a secret's name is a secret, or code, prose, a type, a count or a placeholder. */
import {
  isCode,
  isMember,
  isPlaceholder,
  isSlug,
  KEPT_ELSEWHERE,
  NAME_OF_SECRET,
  PLACE,
  ROLE,
} from './innocentValues.js';
import { isLowerRandom, isNoise, isVeryRandom, looksRandom } from './randomText.js';
import type { NameKind } from './secretNames.js';

export interface NamedValue {
  readonly kind: NameKind;
  /** As written: `DB_PASS` is an environment variable, `password` may be a variable of a program. */
  readonly name: string;
  readonly value: string;
  readonly isQuoted: boolean;
  /** `=` without spaces around it, as in an environment, a URL or an option. */
  readonly isTight: boolean;
  /** Nothing more follows in the line. */
  readonly endsLine: boolean;
}

const LONGEST_WORDS = 120;
const PROSE =
  /(?:^|\s)(?:must|is|are|the|an?|be|your|please|enter|not|for|to|of|with|and|or|invalid|required|wrong|field|at|least|should|has|have|was|no|one|this|that)(?:\s|$)/i;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const OF_ENVIRONMENT = /^[A-Z][A-Z0-9_]*$/;
/** In a name a digit ends a word: `token2`, `oauth2Token`, `s3_secret`. A password continues behind it: `hunter2secret`. */
const DIGIT_WITHIN_WORD = /\d(?:[a-z]{2}|[A-Z]{2})/;
const NAME_AND_PASSWORD = /^[\w.@+-]{1,80}:(\S+)$/;
const LETTERS = /^\p{L}[\p{L}_' .-]*$/u;
const DIGITS = /^\d+(?:[.,]\d+)?$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f:])/i;
/** An identifier of an account at Twilio, which is public. */
const ACCOUNT = /^[A-Z]{2}[0-9a-f]{32}$/;
/** Keys that their issuers call public: they are in web pages. */
const PUBLISHED = /^(?:pk_(?:live|test)_|pk\.eyJ|sb_publishable_|phc_|pub-c-|sub-c-)/;
/** Words of the trade that have a digit. */
const TECHNICAL =
  /^(?:(?:sha|md|crc|utf|aes|rsa|des|http|ipv|oauth|argon|bcrypt|pbkdf|base|u?int|float|latin|python|node|web|log|es|rs|hs|ps|ed|ec|mp)[-_]?\d|[a-z]\d{1,4}[a-z]?(?![^\s.,;:)\]/_-])|0x[0-9a-f]{1,8}\b|\d+[a-z]{0,6}\b|\d{4}-\d\d)/i;
/** `token2` is the name of one. */
const NAMED_LIKE_SECRET = /^[A-Za-z_]{0,20}(?:pass(?:word|wd)?|pwd|token|secret|key)[_-]?\d{0,2}$/i;
/** The name of a pair of keys, not its secret half. */
const PUBLIC_HALF = /access[_-]?key$/i;
const SHORTEST_CHOSEN = 6;
const SHORTEST_STRONG = 8;
/** Without a sign, and in one case. */
const SHORTEST_PLAIN = 10;
const WORDS_AND_NUMBER = /^[a-z]{3,12}(?:[-_.][a-z]{3,12}){2,7}[-_.]?\d{1,4}$/i;
const SHORTEST_VARIABLE = 32;
const SHORTEST_LONE = 20;

export function isSecretValue(named: NamedValue): boolean {
  const { kind, value, isQuoted } = named;
  if (
    value.length < 3 ||
    isPlaceholder(value) ||
    isTemplate(value) ||
    KEPT_ELSEWHERE.test(value) ||
    PUBLISHED.test(value)
  )
    return false;
  if (ROLE.test(value) || (kind !== 'password' && !isLiteral(named) && !named.isTight && isMember(value))) return false;
  if (kind === 'some_key') {
    if (UUID.test(value)) return /secret/i.test(named.name);
    return (looksRandom(value) || (isQuoted && isNoise(value))) && !PLACE.test(value);
  }
  if (kind === 'key_data') return looksRandom(value);
  if (kind === 'auth' || kind === 'login') {
    const isWritten = (isQuoted || named.isTight) && looksChosen(NAME_AND_PASSWORD.exec(value)?.[1] ?? '');
    return isWritten || isLogin(value) || (looksRandom(value) && !UUID.test(value));
  }
  if (kind === 'key' && PUBLIC_HALF.test(named.name) && /^[A-Z0-9]{16,24}$/.test(value)) return false;
  if (kind === 'session') return isSession(value, false);
  if (kind === 'lone_key') return value.length >= SHORTEST_LONE && isVeryRandom(value);
  if (kind === 'chosen') return looksChosen(value) || (looksRandom(value) && !UUID.test(value) && !PLACE.test(value));
  if (kind === 'variable') return named.isTight && value.length >= SHORTEST_VARIABLE && isVeryRandom(value);
  if (looksRandom(value)) return true;
  if (PLACE.test(value) || (!isQuoted && isCode(value, isLiteral(named)))) return false;
  return kind === 'password' || kind === 'secret' ? isPassword(named) : isShortToken(named);
}

/** @param isCookie whether it is written as a cookie; programs have identifiers of sessions of their own */
export function isSession(value: string, isCookie: boolean): boolean {
  if (ACCOUNT.test(value) || UUID.test(value)) return false;
  return isCookie ? looksRandom(value) : (value.length >= SHORTEST_LONE && isVeryRandom(value)) || isLowerRandom(value);
}

/** @returns whether the value is a text that a program fills in, with nothing in it that is secret by itself */
function isTemplate(value: string): boolean {
  return /\$\{\w/.test(value) && !looksChosen(value.replace(/\$\{[^{}]*\}|\$\{[^}]*$/g, ''));
}

/** People choose words as passwords, so only signs against a secret count. */
function isPassword(named: NamedValue): boolean {
  const { kind, name, value, isQuoted, isTight, endsLine } = named;
  if (DIGITS.test(value)) return kind === 'password' && name !== 'pass' && value.length >= 4;
  if (isQuoted && /\s/.test(value)) return !PROSE.test(value) && !NAME_OF_SECRET.test(value);
  if (LETTERS.test(value)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: everything beyond ASCII is looked for
    if (/[^\u0000-\u007f]/.test(value)) return false;
    const isOfEnvironment = isTight && OF_ENVIRONMENT.test(name);
    // `TLS_SECRET=my-secret` names one that is kept elsewhere, `PASSWORD=DB_PASSWORD` a variable.
    if (NAME_OF_SECRET.test(value)) return isOfEnvironment && kind === 'password' && !OF_ENVIRONMENT.test(value);
    if (isOfEnvironment) return true;
    if (isQuoted) return kind === 'password' && value.length >= 6;
    // In a program it would be the name of something.
    return kind === 'password' && value.length >= 6 && endsLine && !/[a-z][A-Z]|_/.test(value);
  }
  if (!/\p{L}|\d/u.test(value)) return false;
  if (isNameOfSecret(named) || (kind === 'secret' && !isQuoted && !isTight && isSlug(value))) return false;
  return value.length >= (kind === 'password' ? 4 : 6);
}

/** Too short to look random, so it needs a digit and the position of a value. */
function isShortToken(named: NamedValue): boolean {
  const { kind, name, value, isQuoted, isTight } = named;
  if (value.length < 6 || DIGITS.test(value) || !/[A-Za-z]/.test(value) || !/\d/.test(value)) return false;
  if (/\s/.test(value) || isNameOfSecret(named)) return false;
  return isQuoted || isTight || (kind === 'key' && OF_ENVIRONMENT.test(name));
}

/** @returns whether the value, which has a digit, is what a program calls a secret, and not one itself */
function isNameOfSecret(named: NamedValue): boolean {
  const { value } = named;
  if (isLiteral(named) || !IDENTIFIER.test(value) || !NAME_OF_SECRET.test(value)) return false;
  return !DIGIT_WITHIN_WORD.test(value);
}

/** Whether no variable of a program can be there: the value of an environment variable or of an option, or a text in quotes. */
function isLiteral({ name, isQuoted, isTight }: NamedValue): boolean {
  return isQuoted || name.startsWith('-') || (isTight && OF_ENVIRONMENT.test(name));
}

/** @returns whether the value is base64 of a name, a colon and a password */
export function isLogin(value: string): boolean {
  const [login = ''] = value.match(/(?<![\x20-\x7e])[A-Za-z0-9+/_-]{6,}={0,2}(?![\x20-\x7e])/) ?? [];
  return /^[\x20-\x39\x3b-\x7e]{1,200}:[\x20-\x7e]+$/.test(Buffer.from(login, 'base64').toString('latin1'));
}

/** @returns whether a value in a sentence, with no sign before it, looks like a password, and not like a word or a number */
export function looksChosen(value: string): boolean {
  if (value.length < SHORTEST_CHOSEN || value.length > LONGEST_WORDS) return false;
  if (!/[A-Za-z]/.test(value) || !/\d/.test(value) || isPlaceholder(value)) return false;
  if (TECHNICAL.test(value) || PLACE.test(value) || KEPT_ELSEWHERE.test(value) || isCode(value)) return false;
  if (NAMED_LIKE_SECRET.test(value)) return false;
  return !/^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$|^[a-z][\w.-]+@[a-z][a-z0-9-]*$|[/\\]\w+[/\\]|[/\\][\w.-]+\.\w{1,5}$|^[\w-]+(?:\.[a-z]{1,5}){1,2}$|^\w+[=(]/.test(
    value,
  );
}

/** In a text that does not say that a password follows: signs, or both cases and a number. */
export function looksStrong(value: string): boolean {
  if (value.length < SHORTEST_STRONG || !looksChosen(value) || /[/\\()<>{}[\]=]/.test(value)) return false;
  if (/[!#$%^&*+~@]/.test(value)) return true;
  if (/[a-z]/.test(value) && /[A-Z]/.test(value) && /\d{2}/.test(value)) return true;
  return (
    value.length >= SHORTEST_PLAIN && !/^[0-9a-f-]+$/.test(value) && (WORDS_AND_NUMBER.test(value) || isMixed(value))
  );
}

/** @returns whether letters and digits take turns in it */
function isMixed(value: string): boolean {
  return /^[A-Za-z0-9]+$/.test(value) && (value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0) >= 3;
}
