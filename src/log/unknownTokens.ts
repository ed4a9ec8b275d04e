/**
 * Tokens that no table knows, by the common habit of issuers: a prefix in plain letters, then so many random characters that
 * nothing else is like it. Identifiers have a prefix, too, but are shorter; hashes have no upper case.
 */

import { isLowerRandom, isVeryRandom, looksRandom } from './randomText.js';
import { type FoundSecret, found, matchEnd, type Word } from './stickyMatch.js';

const SHORTEST_WORD = 22;
const SHORTEST_WHOLE = 35;
/** Shorter ones are identifiers: of calls, of messages, of deployments. */
const SHORTEST_BODY = 30;
const SHORTEST_BEHIND_SECRET = 16;
/** Behind a prefix of two letters: random text may begin with one, too. */
const SHORTEST_BEHIND_TWO = 36;
const PREFIX =
  /^(?:[a-z]{3,12}\d?[_-]|[a-z]{2}\d?_|[A-Z]{3,12}\d?[_-]|[A-Z][a-z]{2,11}[_-])(?:(?:[a-z]{2,12}|[A-Z]{2,10}|v?\d{1,2})[_-]){0,4}/;
/** Behind any other prefix there is no sign in the body, as in most random text that begins with letters and a sign by chance. */
const USUAL_PREFIX = /^[a-z].*_$/;
/** Public values with such a prefix: identifiers of Stripe, keys for web pages, hashes, nonces. */
const INNOCENT =
  /^(?:cs_(?:test|live)|pk|ca|acct|pub|public|publishable|phc|ph|site|sha|sha\d*|md\d|crc\d*|blake\w*|nonce|hash|digest|etag|h\d|id|chatcmpl|cmpl|toolu|srvtoolu|msg|msgbatch|req|resp|call|run|file|asst|thread|user|org|dpl|prj|css|sc|index|chunk|main|vendor)[_-]/;
/** In base64, of SSH. */
const PUBLIC_KEY = /^AAAA[BCE]3Nz/;
/** Lower case and digits are the body of a secret only behind a word that says so. */
const SECRET_PREFIX =
  /(?:^|[_-])(?:sk|pat|tk|rt|at|svc|api|key|auth|server|\w{0,4}secret|token|apikey|api_key|signkey|authkey|deploykey|privkey)(?:[_-][a-z0-9]{2,10})?[_-]$|[a-z]_(?:live|prod|production|sandbox|test|server)_(?:[A-Z]{2,10}[_-])?$/i;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** In the name of a function: `sk_X509_EXTENSION_new`. */
const WORD = /(?:^|[_-])(?:[a-z]{3,}|[A-Z]{4,})(?:[_-]|$)/;
/** Words that are tokens from end to end. */
const WHOLE =
  /^(?:[0-9a-f]{32}-us\d{1,2}|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk|[0-9a-f]{36}NRAL|S[AUONC][A-Z0-9]{56}|[A-Za-z0-9]{52,84}(?:JQQJ99|AZDO)[A-Za-z0-9]{4,40})$/;
/** Before the word, parts of the token that are in no word: of an application of Azure, of Terraform, of a session of Salesforce. */
const BEFORE_WORD =
  /(?:(?<![\w~.-])[\w~.-]{3}\dQ~|(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.|(?<![A-Za-z0-9])00D[A-Za-z0-9]{12,15}!)$/;
const LONGEST_BEFORE = 26;
const SHORTEST_BEHIND = 30;
/** The token of a bot of Discord: its number in base64, a time, and a signature. */
const DISCORD = /[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,45}(?![\w-])/y;
/** The token of a bearer at Twitter. */
const TWITTER = /A{18,24}[A-Za-z0-9]{20,60}%[A-Za-z0-9%]{30,100}/y;

const [ULID_LENGTH, UUID_LENGTH] = [26, 36];
const ULID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const UUID_DIGITS = '0123456789abcdef';
const UUID_SHAPE = '00000000-0000-0000-0000-000000000000';
const OF_SESSION = 'ses_';
/** Between the parts of a token. */
const SIGNS_BEFORE = '.~!';

/**
 * Whether the word is a ULID, also behind the prefix of a session, or a UUID, and not the end of a longer token. Every line of a worklog
 * has some, and the patterns of tokens, none of which they match, take a short-lived program longer to make than the line.
 */
export function isIdentifier(text: string, start: number, end: number): boolean {
  const length = end - start;
  const from =
    length === OF_SESSION.length + ULID_LENGTH && text.startsWith(OF_SESSION, start) ? end - ULID_LENGTH : start;
  if (start > 0 && SIGNS_BEFORE.includes(text.charAt(start - 1))) return false;
  if (end - from === ULID_LENGTH) return text.charAt(from) < '8' && hasOnly(text, from, end);
  return length === UUID_LENGTH && isUuid(text, start);
}

function hasOnly(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) if (!ULID_DIGITS.includes(text.charAt(at))) return false;
  return true;
}

function isUuid(text: string, start: number): boolean {
  for (let index = 0; index < UUID_LENGTH; index += 1) {
    const digits = UUID_SHAPE.charAt(index) === '-' ? '-' : UUID_DIGITS;
    if (!digits.includes(text.charAt(start + index))) return false;
  }
  return true;
}

export function isPublicToken(token: string): boolean {
  return INNOCENT.test(token) || PUBLIC_KEY.test(token);
}

/** @param word with digits */
export function findUnknown(text: string, word: Word): FoundSecret | null {
  const { start, end } = word;
  const length = end - start;
  if (length < SHORTEST_WORD) return null;
  const part = text.slice(start, end);
  const hasUpper = /[A-Z]/.test(part);
  if (length > SHORTEST_WHOLE && WHOLE.test(part)) return found(start, part, 'api_key');
  const dotted = hasUpper ? findDotted(text, start, end) : null;
  if (dotted !== null) return dotted;
  const [prefix] = length < SHORTEST_BEHIND_SECRET + 3 ? [] : (PREFIX.exec(part) ?? []);
  if (prefix === undefined || INNOCENT.test(part)) return null;
  const body = part.slice(prefix.length);
  return isBody(prefix, body, hasUpper) ? found(start, part, 'token') : null;
}

function isBody(prefix: string, body: string, hasUpper: boolean): boolean {
  const isSecret = SECRET_PREFIX.test(prefix);
  if (isSecret && (isLowerRandom(body) || UUID.test(body))) return true;
  if (isSecret && hasUpper && body.length >= SHORTEST_BEHIND_SECRET && looksRandom(body) && !WORD.test(body))
    return true;
  if (!hasUpper || !isVeryRandom(body)) return false;
  const isShort = /^[A-Za-z]{2}[_-]/.test(prefix);
  const isPlain = !/[_-]/.test(body);
  return isShort
    ? isPlain && body.length >= SHORTEST_BEHIND_TWO
    : body.length >= SHORTEST_BODY && (isPlain || USUAL_PREFIX.test(prefix));
}

/** Tokens of several words with signs between them. */
function findDotted(text: string, start: number, end: number): FoundSecret | null {
  const behind = text.charAt(end);
  const pattern = behind === '.' ? DISCORD : behind === '%' ? TWITTER : null;
  const to = pattern === null ? 0 : matchEnd(pattern, text, start);
  if (to > 0) return { from: start, to, replacement: '[redacted:token]' };
  const sign = text.charAt(start - 1);
  if (end - start < SHORTEST_BEHIND || (sign !== '.' && sign !== '~' && sign !== '!')) return null;
  const before = BEFORE_WORD.exec(text.slice(Math.max(0, start - LONGEST_BEFORE), start));
  return before === null ? null : { from: start - before[0].length, to: end, replacement: '[redacted:token]' };
}
