/**
 * Finds what looks like a secret: a token with its issuer's prefix, a value after a name that suggests a secret, a login in a
 * URL, a private key.
 *
 * It passes once over the words of a text. The first and last letters rule most words out; only if something may begin there, a
 * pattern is tried at this one position (sticky). Every pattern takes linear time, because the text may be an attacker's: its
 * repeats are bounded, or consumed by the match, or end at a character that the next one begins with.
 */
import { findAssigned, findBehindOption, findPasswordOfPostgres, findWebKey } from './assignedSecrets.js';
import { findPrivateKey } from './privateKeys.js';
import { MARKED_TOKENS, mayBeMarked, mayHoldMarks, WEBHOOK } from './secretMarks.js';
import { mayEndName, nameKindOf } from './secretNames.js';
import { isPlaceholder } from './secretValues.js';
import { type FoundSecret, matchEnd, matchOf } from './stickyMatch.js';

const BOT_TOKEN = /(?::|%3[Aa])[A-Za-z0-9_-]{30,}/y;
const LOGIN = /:\/\/([^\s/:@"'\\[]*):([^\s/@"'\\]+)@/y;
const LONE_LOGIN = /:\/\/([^\s/:@"'\\[]{20,})@/y;
/** A port, followed by a query or a fragment with an `@` in it. */
const PORT_OF_POSTGRES = /^(?:543\d|6432)$/;
const PORT = /^\d{1,5}[?#]/;

const DASH = 45;
const COLON = 58;
const SLASH = 47;
const BACKSLASH = 92;
const PERCENT = 37;
const BRACKET = 91;
const SEMICOLON = 59;
const DOT = 46;
const LETTER_U = 117;
const LETTER_D = 100;
const QUOTE_MARK = 34;
const IS_ESCAPE = new Uint8Array(65_536);
for (const code of [BACKSLASH, PERCENT, BRACKET, SEMICOLON]) IS_ESCAPE[code] = 1;

/** Letters, digits, `_` and `-`. As large as the range of characters: checking the range costs more. */
const IS_WORD = new Uint8Array(65_536);
for (let code = 0; code < 128; code += 1) IS_WORD[code] = /[\w-]/.test(String.fromCharCode(code)) ? 1 : 0;
/** A word's character with which a secret's name may end. */
const ENDS_NAME = 2;
for (const letter of 'ntdsehyrgaNTDSEHYRGA') IS_WORD[letter.charCodeAt(0)] = ENDS_NAME;
/** No word that begins a token is shorter, unless a dot ends it: `ya29.`. */
const SHORTEST_TOKEN = 8;
const SHORTEST_ESCAPED = 8;

/** The names of `secretNames.ts` at a word's end. */
const SOME_NAME =
  /(?:token|secret|password|passwd|passphrase|pwd|pass|key|auth|authorization|bearer|cookie|sig|signature|private-lines|key_base|key-data)(?![\w-])/gi;
/** A bot's token, a line of `.pgpass`, a one-letter option, a login in a URL, a webhook. */
const SOMETHING_ELSE =
  /[:%](?<=\d.)(?:3[Aa])?[A-Za-z0-9_-]{30}|:(?:543\d|6432):|-(?:[pua]|-user)(?<=(?:^|[\s"']|\\[nrt])-.{1,5})|:\/\/(?:[^\s/@]*@|[\w.-]{0,80}(?:hook|discord|office|ifttt|feishu|larksuite|hc-ping))/;

/** @returns the text with everything that looks like a secret replaced by a marker; doing it twice changes nothing more */
export function replaceSecrets(text: string): string {
  const isPlain = !text.includes('-----') && !text.includes('kty') && !SOMETHING_ELSE.test(text) && !mayHoldMarks(text);
  return isPlain ? replaceBehindNames(text) : replaceWordByWord(text);
}

/** For most texts: only a value after a name can be a secret, so only names are checked. */
function replaceBehindNames(text: string): string {
  let result = '';
  let copied = 0;
  SOME_NAME.lastIndex = 0;
  while (SOME_NAME.test(text)) {
    const end = SOME_NAME.lastIndex;
    let start = end - 1;
    while (start > copied && IS_WORD[text.charCodeAt(start - 1)] !== 0) start -= 1;
    const secret = findInWord(text, start, end, copied);
    // Another search may have moved it meanwhile.
    SOME_NAME.lastIndex = secret?.to ?? end;
    if (secret === null) continue;
    result += text.slice(copied, secret.from) + secret.replacement;
    copied = secret.to;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

/** The same for any text, word by word. Exported for the test that both find the same. */
export function replaceWordByWord(text: string): string {
  const { length } = text;
  let result = '';
  let copied = 0;
  for (let at = 0; at < length; ) {
    const first = text.charCodeAt(at);
    let secret: FoundSecret | null = null;
    if (IS_WORD[first] === 0) {
      if (first === COLON && text.startsWith('://', at)) secret = findInAddress(text, at);
      at += 1;
    } else {
      const start = at;
      let last = first;
      let next = 0;
      for (at += 1; at < length; at += 1) {
        next = text.charCodeAt(at);
        if (IS_WORD[next] === 0) break;
        last = next;
      }
      // Inline rather than in a function, because every word of every line comes here; most are ruled out by these few checks.
      const size = at - start;
      if (
        (IS_WORD[last] === ENDS_NAME &&
          size >= 3 &&
          mayEndName(text.charCodeAt(at - 3), text.charCodeAt(at - 2), last)) ||
        ((size >= SHORTEST_TOKEN || next === DOT) && size >= 2 && mayBeMarked(first, text.charCodeAt(start + 1))) ||
        first === DASH ||
        (size === 1 && first === LETTER_D && (next === QUOTE_MARK || next === BACKSLASH)) ||
        ((next === COLON || next === PERCENT) && size >= 4 && isDigit(last) && isDigit(text.charCodeAt(at - 3))) ||
        ((size > SHORTEST_ESCAPED || next === DOT) && start > 0 && mayBeginBehindEscape(text, start))
      ) {
        secret = findInWord(text, start, at, copied);
      }
    }
    if (secret === null) continue;
    result += text.slice(copied, secret.from) + secret.replacement;
    copied = secret.to;
    at = secret.to;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

/** @param free the text before it is replaced already */
function findInWord(text: string, start: number, end: number, free: number): FoundSecret | null {
  const before = start === 0 ? 0 : text.charCodeAt(start - 1);
  const isEscaped = before === BACKSLASH || before === PERCENT || before === BRACKET || before === SEMICOLON;
  const begin = isEscaped ? behindEscape(text, start, before) : start;
  const first = text.charCodeAt(begin);
  const marked = MARKED_TOKENS[first];
  if (marked !== undefined) {
    for (const { mark, whole, kind } of marked) {
      if (!text.startsWith(mark, begin)) continue;
      const to = matchEnd(whole, text, begin);
      if (to > 0) return { from: begin, to, replacement: `[redacted:${kind}]` };
    }
  }
  if (first === DASH) {
    const secret = text.startsWith('-----', begin)
      ? findPrivateKey(text, begin, free)
      : findBehindOption(text, begin, end);
    if (secret !== null) return secret;
  }
  const next = text.charCodeAt(end);
  if (next === COLON || next === PERCENT) {
    const secret = PORT_OF_POSTGRES.test(text.slice(Math.max(start, end - 5), end))
      ? findPasswordOfPostgres(text, end)
      : findBotToken(text, start, end);
    if (secret !== null) return secret;
  }
  if (first === LETTER_D && end - start === 1) return findWebKey(text, end);
  const kind = nameKindOf(text, start, end);
  return kind === null ? null : findAssigned(text, begin, end, kind);
}

/** @returns false for most words: nothing relevant begins after the `n` of `\n` */
function mayBeginBehindEscape(text: string, start: number): boolean {
  const before = text.charCodeAt(start - 1);
  if (IS_ESCAPE[before] === 0) return false;
  if (before !== BACKSLASH || text.charCodeAt(start) === LETTER_U) return true;
  const first = text.charCodeAt(start + 1);
  return first === DASH || mayBeMarked(first, text.charCodeAt(start + 2));
}

/** @returns where the word begins: `\nsk-…` in JSON, `%20sk-…` in a URL, `[31msk-…` in terminal output */
function behindEscape(text: string, start: number, before: number): number {
  if (before === BACKSLASH) {
    const letter = text.charAt(start);
    return letter === 'u' ? start + 5 : 'nrtbf'.includes(letter) ? start + 1 : start;
  }
  const skipped = (before === PERCENT ? /[0-9A-Fa-f]{2}/y : /\d{0,4}m/y) as RegExp;
  const to = matchEnd(skipped, text, start);
  return to > 0 ? to : start;
}

function findBotToken(text: string, start: number, end: number): FoundSecret | null {
  let from = end;
  while (from > start && isDigit(text.charCodeAt(from - 1))) from -= 1;
  if (end - from < 6) return null;
  const to = matchEnd(BOT_TOKEN, text, end);
  return to > 0 ? { from, to, replacement: '[redacted:bot_token]' } : null;
}

/** @param at the colon of `://` */
function findInAddress(text: string, at: number): FoundSecret | null {
  if (text.charCodeAt(at + 2) !== SLASH) return null;
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

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
