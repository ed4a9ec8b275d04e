/** Decides whether the value after a secret's name is a secret, or code, prose, a type, a count or a placeholder. */
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
/** This much of a value shows whether it is random. */
const MOST_LOOKED_AT = 96;
const SHORTEST_RANDOM = 16;
/** Of its characters, with some digits among them, and without. */
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
const FILLED_IN_LATER =
  /^(?:\$[({A-Za-z_]|\\\$|\{\{|<|%[({A-Z_]|[@#]\{|\[|[•·]|[*]{2,}|[x]{4,}$|[X]{4,}$|[.…]{2,}|[-_=|>~^!/]*$|![A-Za-z][A-Za-z:_./-]*$|ENC\[|ENC\()/;
const PLACEHOLDER_WORDS =
  /^(?:your|my|the|some|change|replace|insert|enter|example|sample|dummy|fake|test|foo|bar|todo|tbd|none|null|nil|undefined|true|false|yes|no|on|off|redacted|hidden|masked|removed|placeholder|secret|password|passwd|passphrase|token|value|string|required|optional|missing|invalid|empty|unknown|default|disabled|enabled|incorrect|wrong|changeme)(?:[-_ .](?:me|it|in|this|here|with|your|my|the|api|app|access|auth|bot|key|keys|token|secret|password|value|goes|name|example|string|test|now|please)|(?:me|here)$)*$/i;
/** What was typed between signs beyond ASCII; a letter belongs to the value. */
const BETWEEN_SIGNS = /^[^\x20-\x7e\p{L}]*([\x20-\x7e]+)(?:[^\x20-\x7e\p{L}].*)?$/su;
const NAME_OF_SECRET = /pass|pwd|token|secret|key|kenn|credential|auth/i;
const PROSE =
  /(?:^|\s)(?:must|is|are|the|an?|be|your|please|enter|not|for|to|of|with|and|or|invalid|required|wrong|field|at|least|should|has|have|was|no|one|this|that)(?:\s|$)/i;
const TYPES =
  /^(?:string|number|boolean|bool|any|unknown|never|void|object|bigint|symbol|null|undefined|None|True|False|str|String|int|integer|bytes|float|text|varchar|Option|Optional|Record|Array|Buffer|Promise|Secret|SecretStr|self|this|super|lambda|input|require|import|process|os|env|await|new|typeof|async|function)(?![\w-])/i;
const CALL_OR_MEMBER = /^(?:[([{]|[&*!]{0,2}[A-Za-z_$][\w$.?!]{0,120}(?:\(|\[|::|->|<))/;
const DOTTED = /^[A-Za-z_$][\w$]{0,80}(?:(?:\?|!)?\.[A-Za-z_$][\w$]{0,80})+[!;,)\]}]*$/;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const OF_ENVIRONMENT = /^[A-Z][A-Z0-9_]*$/;
/** In a name a digit ends a word: `token2`, `oauth2Token`, `s3_secret`. A password goes on behind it: `hunter2secret`. */
const DIGIT_WITHIN_WORD = /\d(?:[a-z]{2}|[A-Z]{2})/;
const NAME_AND_PASSWORD = /^[\w.@+-]{1,80}:(\S+)$/;
const LETTERS = /^\p{L}[\p{L}_' .-]*$/u;
const DIGITS = /^\d+(?:[.,]\d+)?$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/i;
const PLACE = /^(?:~|\.{1,2}|[A-Za-z]:)?[\\/]|:\/\//;
/** A secret that is kept elsewhere: `vault:secret/data/db#password`. */
const KEPT_ELSEWHERE =
  /^(?:vault|ssm|aws|gcp|azure|arn|env|file|op|bws|doppler|keyring|keychain|sops|ref\+\w+|projects)[:/]/;
/** Keys that their issuers call public: they stand in web pages. */
const PUBLISHED = /^(?:pk_(?:live|test)_|pk\.eyJ|sb_publishable_|phc_|pub-c-|sub-c-)/;
/** Words of the trade that have a digit. */
const TECHNICAL =
  /^(?:(?:sha|md|crc|utf|aes|rsa|des|http|ipv|oauth|argon|bcrypt|pbkdf|base|u?int|float|latin|python|node|web|log|es|rs|hs|ps|ed|ec|mp)[-_]?\d|[a-z]\d{1,4}[a-z]?\b|0x[0-9a-f]{1,8}\b|\d+[a-z]{0,6}\b|\d{4}-\d\d)/i;
/** `token2` is the name of one. */
const NAMED_LIKE_SECRET = /^[A-Za-z_]{0,20}(?:pass(?:word|wd)?|pwd|token|secret|key)[_-]?\d{0,2}$/i;
/** The name of a pair of keys, not its secret half. */
const PUBLIC_HALF = /access[_-]?key$/i;
const SHORTEST_CHOSEN = 6;
const SHORTEST_VARIABLE = 32;
const SHORTEST_LONE = 20;
/** Random letters and digits change their sort at three of five steps, names that are written together at two of five. */
const LEAST_CHANGES = 0.45;

export function isSecretValue(named: NamedValue): boolean {
  const { kind, value, isQuoted } = named;
  if (value.length < 3 || isPlaceholder(value) || KEPT_ELSEWHERE.test(value) || PUBLISHED.test(value)) return false;
  if (kind === 'some_key') return looksRandom(value) && !UUID.test(value) && !PLACE.test(value);
  if (kind === 'key_data') return looksRandom(value);
  if (kind === 'auth' || kind === 'login') {
    const isWritten = (isQuoted || named.isTight) && looksChosen(NAME_AND_PASSWORD.exec(value)?.[1] ?? '');
    return isWritten || isLogin(value) || (looksRandom(value) && !UUID.test(value));
  }
  if (kind === 'key' && PUBLIC_HALF.test(named.name) && /^[A-Z0-9]{16,24}$/.test(value)) return false;
  if (kind === 'lone_key') return value.length >= SHORTEST_LONE && isVeryRandom(value);
  if (kind === 'chosen') return looksChosen(value) || (looksRandom(value) && !UUID.test(value) && !PLACE.test(value));
  if (kind === 'variable') return named.isTight && value.length >= SHORTEST_VARIABLE && isVeryRandom(value);
  if (looksRandom(value)) return true;
  if (PLACE.test(value) || (!isQuoted && isCode(value, isLiteral(named)))) return false;
  return kind === 'password' || kind === 'secret' ? isPassword(named) : isShortToken(named);
}

/** @returns whether the text is a placeholder that somebody has to fill in */
export function isPlaceholder(value: string): boolean {
  if (FILLED_IN_LATER.test(value)) return true;
  if (value.length > LONGEST_WORDS) return false;
  const typed = BETWEEN_SIGNS.exec(value)?.[1] ?? value;
  return PLACEHOLDER_WORDS.test(typed) || (/[A-Za-z]/.test(typed) && FILLED_IN_LATER.test(typed));
}

/**
 * @param isPlain whether it cannot be the name of a variable: then a dot between letters and digits makes none of it
 * @returns whether an unquoted value is an expression or a type of a program
 */
export function isCode(value: string, isPlain = false): boolean {
  if (TYPES.test(value) || CALL_OR_MEMBER.test(value) || value.includes('=>')) return true;
  return DOTTED.test(value) && (!/\d/.test(value) || (!isPlain && NAME_OF_SECRET.test(value)));
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
    return kind === 'password' && value.length >= 6 && endsLine && !/[a-z][A-Z]/.test(value);
  }
  if (!/\p{L}|\d/u.test(value)) return false;
  if (isNameOfSecret(named)) return false;
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

/**
 * For a value in a sentence, with no sign in front of it.
 * @returns whether it looks like a password, and not like a word or a number
 */
export function looksChosen(value: string): boolean {
  if (value.length < SHORTEST_CHOSEN || value.length > LONGEST_WORDS) return false;
  if (!/[A-Za-z]/.test(value) || !/\d/.test(value) || isPlaceholder(value)) return false;
  if (TECHNICAL.test(value) || PLACE.test(value) || KEPT_ELSEWHERE.test(value) || isCode(value)) return false;
  if (NAMED_LIKE_SECRET.test(value)) return false;
  return !/^[\w.-]+@[\w.-]+$|[/\\]\w+[/\\]|[/\\][\w.-]+\.\w{1,5}$|^[\w-]+(?:\.[a-z]{1,5}){1,2}$|^\w+[=(]/.test(value);
}

/**
 * Random characters change between lower case, upper case and digits at nearly every step; words, names, versions and instants
 * do not. Characters beyond ASCII are beside a value, not a part of it.
 * @returns whether the value is long enough to judge, and is random
 */
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

/** @returns whether the text is random letters in both cases and digits, with few signs between them; no name is */
export function isVeryRandom(text: string): boolean {
  const plain = text.replace(/[_+/=-]/g, '');
  if (plain.length < text.length * 0.85 || /[^A-Za-z0-9]/.test(plain)) return false;
  if (!/[a-z]/.test(plain) || !/[A-Z]/.test(plain) || !/\d/.test(plain)) return false;
  const changes = plain.match(/[a-z](?=[A-Z\d])|[A-Z](?=[a-z\d])|\d(?=[A-Za-z])/g)?.length ?? 0;
  return changes >= (plain.length - 1) * (/\d.*\d/.test(plain) ? LEAST_CHANGES : MANY_CHANGES);
}
