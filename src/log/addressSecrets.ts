/** Secrets in addresses: a login before the host, a webhook, a secret in the path. */

import { isPlaceholder } from './innocentValues.js';
import { looksRandom } from './randomText.js';
import { lastGroup } from './secretNotation.js';
import { looksStrong } from './secretValues.js';
import { type FoundSecret, found, matchEnd, matchOf } from './stickyMatch.js';

const LOGIN = /:\/\/([^\s/:@"'\\[]*):([^\s/@"'\\]+)@/y;
/**
 * A password that was not escaped, with signs in it that end one elsewhere. The text behind it looks like a host, and no comma or
 * bracket that ends a text in a program is in front of it.
 */
const RAW_LOGIN =
  /:\/\/([^\s/:@"'\\[{$(]{0,80}):([^\s"\\`<>]{1,120})@(?=[A-Za-z0-9](?:[\w.-]{0,100}[A-Za-z0-9])?(?::\d{1,5})?(?:[/?"'\s]|$))/y;
const END_OF_TEXT = /'\s?[,;:)\]}+]|[,;)\]}]\s?'/;
const LONE_LOGIN = /:\/\/([^\s/:@"'\\[]{20,})@/y;
/** A port, followed by a path, a query or a fragment with an `@` in it. */
const PORT = /^\d{1,5}[/?#]/;
/** Addresses for error reports are in web pages. */
const PUBLIC_LOGIN = /[0-9a-f]{32}@[\w.-]{0,60}(?:\bsentry\.io|\.ingest\.)/y;
/** A URL that everyone who knows it can post to; sticky, from the host's name on. */
const WEBHOOK = new RegExp(
  [
    String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/`,
    String.raw`(?:\w{1,20}\.)?discord(?:app)?\.com/api/(?:v\d{1,3}/)?webhooks/`,
    String.raw`[\w.-]{1,80}\.webhook\.office\.com/webhookb?\d?/`,
    String.raw`outlook\.office(?:365)?\.com/webhook/`,
    String.raw`hooks\.zapier\.com/hooks/catch/`,
    String.raw`maker\.ifttt\.com/trigger/[^/\s]{1,80}/(?:json/)?with/key/`,
    String.raw`open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/`,
    String.raw`hc-ping\.com/`,
    String.raw`hook\.[\w.-]{1,40}\.make\.com/`,
    String.raw`qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=`,
  ]
    .map((place) => `(${place})`)
    .join('|')
    .replace(/^(.*)$/, String.raw`(?:$1)[^\s"'\\<>\`]{8,}`),
  'y',
);
/** A webhook of one's own server. */
const OWN_WEBHOOK =
  /([\w.-]{1,100}(?::\d{1,5})?\/(?:[\w.-]{1,40}\/){0,4}(?:web)?hooks?\/(?:[\w-]{1,40}\/){0,2})([A-Za-z0-9_-]{20,})/y;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** A name, perhaps with its domain, and a password before a host. */
const LOGIN_BEFORE = /(?:^|[\s"'`=(,])(?:[\w.-]{1,40}[/\\]{1,2})?([\w.+-]{1,60}):([^\s"'`:@]{6,100})$/;
const HOST = /[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}|localhost\b/y;
const LONGEST_LOGIN = 200;
/** The rest of an address of a mail box that is the name of a login. */
const PASSWORD_OF_MAIL_BOX = /[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}:([^\s"'`\\]{8,100})(?=[\s"'`\\]|$)/y;
/** Programs that have a path there. */
const COPIES = /\b(?:scp|rsync|ssh|sftp|git|mailto)\b/;

/** The password next to an `@` that is in no web address: `admin:SECRET@10.0.0.5`, `me@example.org:SECRET`. */
export function findAroundAt(text: string, at: number, free: number): FoundSecret | null {
  const colon = colonBefore(text, at);
  const before = text.slice(Math.max(free, at - LONGEST_LOGIN), at);
  const [, , password = ''] = (colon > free ? LOGIN_BEFORE.exec(before) : null) ?? [];
  if (looksStrong(password) && matchEnd(HOST, text, at + 1) > 0) {
    return COPIES.test(before) ? null : found(at - password.length, password, 'password');
  }
  const match = matchOf(PASSWORD_OF_MAIL_BOX, text, at + 1);
  if (match === null || !looksStrong(match[1] ?? '') || COPIES.test(before)) return null;
  return lastGroup(match, at + 1, 'password');
}

/** @returns the position of the colon before a password; -1 if there is none */
function colonBefore(text: string, at: number): number {
  for (let index = at - 1; index >= 0 && at - index < LONGEST_LOGIN; index -= 1) {
    const character = text.charAt(index);
    if (character === ':') return at - index > 6 ? index : -1;
    if (/[\s"'`@]/.test(character)) return -1;
  }
  return -1;
}

/** @param at the colon of `://` */
export function findInAddress(text: string, at: number): FoundSecret | null {
  return findWebhook(text, at + 3) ?? findLogin(text, at) ?? findLoneLogin(text, at);
}

function findWebhook(text: string, from: number): FoundSecret | null {
  const webhook = matchOf(WEBHOOK, text, from);
  if (webhook !== null) {
    const host = webhook.slice(1).find((place) => place !== undefined) ?? '';
    return found(from + host.length, webhook[0].slice(host.length), 'webhook');
  }
  const [, place = '', secret = ''] = matchOf(OWN_WEBHOOK, text, from) ?? [];
  return looksRandom(secret) || UUID.test(secret) ? found(from + place.length, secret, 'webhook') : null;
}

function findLogin(text: string, at: number): FoundSecret | null {
  const raw = matchOf(RAW_LOGIN, text, at);
  const [, user = '', password = ''] =
    raw !== null && !END_OF_TEXT.test(raw[2] ?? '') ? raw : (matchOf(LOGIN, text, at) ?? []);
  if (password === '' || PORT.test(password) || isPlaceholder(password)) return null;
  return found(at + 4 + user.length, password, 'password');
}

function findLoneLogin(text: string, at: number): FoundSecret | null {
  const user = matchOf(LONE_LOGIN, text, at)?.[1] ?? '';
  if (!/\d/.test(user) || matchOf(PUBLIC_LOGIN, text, at + 3) !== null) return null;
  return found(at + 3, user, 'password');
}
