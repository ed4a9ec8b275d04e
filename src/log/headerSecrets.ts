/** Secrets in headers and cookies: `Authorization:`, `Bearer …`, `Cookie:`, and the lines of a cookie jar. */
import { isCode, isPlaceholder } from './innocentValues.js';
import { looksRandom } from './randomText.js';
import { lastGroup, QUOTE, SEPARATOR } from './secretNotation.js';
import { isLogin, isSession } from './secretValues.js';
import { type FoundSecret, found, matchOf } from './stickyMatch.js';

const AUTHORIZATION =
  /\\{0,31}["'`]?((?:bearer|basic|token|digest|apikey|api-key|ssws|negotiate|genericapikey|zoho-oauthtoken)\s{1,4})?(?:token=\\{0,31}["']?)?([^\s"'\\,;`]{4,})/iy;
/** A scheme of one issuer. */
const OTHER_SCHEME =
  /\\{0,31}["'`]?(?!(?:bearer|basic|token|digest|apikey|api-key|ssws|negotiate|genericapikey|zoho-oauthtoken)\b)[A-Za-z][A-Za-z-]{1,20} {1,4}([A-Za-z0-9+/=_.~-]{16,})(?![\w./])/iy;
/** As servers are configured to set a header. */
const BEFORE_QUOTE = /[ \t]{1,4}(?=\\{0,31}["'])/y;
const BEARER = /\s{1,4}([A-Za-z0-9._~+/=-]{8,})/y;
const COOKIES = /[^\r\n"'\\`]{8,1024}/y;
/** As curl, wget and browsers keep cookies: domain, flag, path, flag, end, name, value. */
const REST_OF_JAR_LINE =
  /(?:\t|\\{1,15}t)\/[^\s\\]{0,200}(?:\t|\\{1,15}t)(?:TRUE|FALSE)(?:\t|\\{1,15}t)\d{1,20}(?:\.\d{1,9})?(?:\t|\\{1,15}t)[^\s\\]{1,100}(?:\t|\\{1,15}t)([^\s\\"]{8,4096})/y;
const SESSION = /\\{0,31}["'`]?[ \t]{0,3}[=:][ \t]{0,3}\\{0,31}["'`]?([^\s"'`\\;,&<>]{16,4096})/y;

export function findBearer(text: string, end: number): FoundSecret | null {
  const match = matchOf(BEARER, text, end);
  return /\d/.test(match?.[1]?.slice(0, 64) ?? '') ? lastGroup(match, end, 'authorization') : null;
}

export function findAuthorization(text: string, end: number): FoundSecret | null {
  const separator = matchOf(SEPARATOR, text, end) ?? matchOf(BEFORE_QUOTE, text, end);
  if (separator === null) return null;
  const at = end + separator[0].length;
  const match = matchOf(AUTHORIZATION, text, at);
  const other = matchOf(OTHER_SCHEME, text, at);
  if (other !== null && /\d/.test(other[1] ?? '')) return lastGroup(other, at, 'authorization');
  if (match === null) return null;
  const [whole, scheme, value = ''] = match;
  if (isPlaceholder(value)) return null;
  if (scheme === undefined && (value.length < 16 || isCode(value) || !/\d/.test(value) || value.includes('://')))
    return null;
  const length = value.length + (scheme === undefined ? 0 : whole.length - value.length - quoteLength(whole));
  return found(at + whole.length - length, whole.slice(whole.length - length), 'authorization');
}

function quoteLength(text: string): number {
  return /^\\{0,31}["'`]?/.exec(text)?.[0].length ?? 0;
}

export function findCookies(text: string, end: number): FoundSecret | null {
  if (text.charAt(end) !== ':' && !/^\\{0,31}["']/.test(text.slice(end, end + 4))) return null;
  const separator = matchOf(SEPARATOR, text, end);
  if (separator === null) return null;
  const at = end + separator[0].length;
  return cookiesAt(text, at + (matchOf(QUOTE, text, at)?.[0].length ?? 0));
}

export function cookiesAt(text: string, from: number): FoundSecret | null {
  const value = matchOf(COOKIES, text, from)?.[0] ?? '';
  const isSecret = value.split(';').some((pair) => {
    const content = pair.slice(pair.indexOf('=') + 1);
    return pair.includes('=') && (looksRandom(content) || isLogin(content));
  });
  return isSecret ? found(from, value, 'cookie') : null;
}

/** @param end of the first flag of a line */
export function findInCookieJar(text: string, end: number): FoundSecret | null {
  const match = matchOf(REST_OF_JAR_LINE, text, end);
  return looksRandom(match?.[1] ?? '') ? lastGroup(match, end, 'cookie') : null;
}

/** @param end of the name of a cookie */
export function findSession(text: string, end: number): FoundSecret | null {
  // In a sentence.
  if (text.charAt(end) === ' ' && !/[=:]/.test(text.charAt(end + 1))) return null;
  const match = matchOf(SESSION, text, end);
  if (match === null) return null;
  const value = decoded(match[1] ?? '');
  return isSession(value, /^\\{0,31}["']?\s?=/.test(text.slice(end, end + 8))) ? lastGroup(match, end, 'cookie') : null;
}

/** `s%3A…`, as servers sign cookies, without what an address escapes. */
function decoded(value: string): string {
  return !value.includes('%') ? value : value.slice(0, 200).replace(/%[0-9A-Fa-f]{2}/g, '.');
}
