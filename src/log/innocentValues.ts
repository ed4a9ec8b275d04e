/** Recognises values behind a secret's name that are none: a placeholder, an expression of a program, a place of secrets. */
import { isVeryRandom, looksRandom, SHORTEST_RANDOM } from './randomText.js';

const LONGEST_WORDS = 120;
export const NAME_OF_SECRET = /pass|pwd|token|secret|key|kenn|credential|auth/i;
const FILLED_IN_LATER =
  /^(?:\$[({A-Za-z_]|\\\$|\{\{|<|%[({A-Z_]|[@#]\{|\[|[•·]|[*]{2,}|[x]{4,}$|[X]{4,}$|[.…]{2,}|[-_=|>~^!/]*$|![A-Za-z][A-Za-z:_./-]*$|ENC\[|ENC\()/;
const PLACEHOLDER_WORDS =
  /^(?:your|my|the|some|change|replace|insert|enter|example|sample|dummy|fake|test|foo|bar|todo|tbd|none|null|nil|undefined|true|false|yes|no|on|off|redacted|hidden|masked|removed|placeholder|secret|password|passwd|passphrase|token|value|string|required|optional|missing|invalid|empty|unknown|default|options?|flags?|arguments?|parameters?|fields?|prompts?|from|for|is|and|or|to|with|without|disabled|enabled|incorrect|wrong|changeme)(?:[-_ .](?:me|it|in|this|here|with|your|my|the|api|app|access|auth|bot|key|keys|token|secret|password|value|goes|name|example|string|test|now|please)|(?:me|here)$)*$/i;
/** A value that was typed between signs beyond ASCII; a letter belongs to the value. */
const BETWEEN_SIGNS = /^[^\x20-\x7e\p{L}]*([\x20-\x7e]+)(?:[^\x20-\x7e\p{L}].*)?$/su;
const TYPES =
  /^(?:string|number|boolean|bool|any|unknown|never|void|object|bigint|symbol|null|undefined|None|True|False|str|String|int|integer|bytes|float|text|varchar|Option|Optional|Record|Array|Buffer|Promise|Secret|SecretStr|self|this|super|lambda|input|require|import|process|os|env|await|new|typeof|async|function)(?![\w-])/i;
const CALL_OR_MEMBER = /^(?:[([{]|[&*!]{0,2}[A-Za-z_$][\w$.?!]{0,120}(?:\(|\[|::|->|<))/;
const SLUG = /^[a-z][a-z0-9]*(?:-[a-z0-9]{1,12})+$/;
const NEGATED = /^!{1,2}[A-Za-z_$][\w$.]*$/;
const DOTTED = /^[A-Za-z_$][\w$]{0,80}(?:(?:\?|!)?\.[A-Za-z_$][\w$]{0,80})+[!;,)\]}]*$/;
/** In documents of programs: `:type password: :py:data:`. */
export const ROLE = /^(?::[A-Za-z]+:(?:[A-Za-z]+:)?\w*|[A-Za-z]+:)$/;
export const PLACE = /^(?:~|\.{1,2}|[A-Za-z]:)?[\\/]|:\/\//;
/** A secret that is kept elsewhere: `vault:secret/data/db#password`. */
export const KEPT_ELSEWHERE =
  /^(?:vault|ssm|aws|gcp|azure|arn|env|file|op|bws|doppler|keyring|keychain|sops|ref\+\w+|projects)[:/]/;

export function isPlaceholder(value: string): boolean {
  if (FILLED_IN_LATER.test(value)) return true;
  if (value.length > LONGEST_WORDS) return false;
  const typed = BETWEEN_SIGNS.exec(value)?.[1] ?? value;
  return PLACEHOLDER_WORDS.test(typed) || (/[A-Za-z]/.test(typed) && FILLED_IN_LATER.test(typed));
}

/** @param isPlain whether it cannot be the name of a variable: then a dot between letters and digits makes none of it */
export function isCode(value: string, isPlain = false): boolean {
  if (TYPES.test(value) || NEGATED.test(value) || CALL_OR_MEMBER.test(value) || value.includes('=>')) return true;
  return DOTTED.test(value) && (!/\d/.test(value) || (!isPlain && NAME_OF_SECRET.test(value)));
}

/** @returns whether it is a name as clusters have, also for an object that holds a secret */
export function isSlug(value: string): boolean {
  return SLUG.test(value) && !looksRandom(value);
}

/** @returns whether the value is what an object of a program has: `this.lib.NID_aes_256` */
export function isMember(value: string): boolean {
  return DOTTED.test(value) && !value.split('.').some((part) => part.length >= SHORTEST_RANDOM && isVeryRandom(part));
}
