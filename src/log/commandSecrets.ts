/** Passwords among the arguments of commands: of mysql behind `-p`, of curl behind `-u`, of htpasswd behind a file and a name. */

import { cookiesAt } from './headerSecrets.js';
import { isPlaceholder } from './innocentValues.js';
import { looksRandom } from './randomText.js';
import { lastGroup, PLAIN_VALUE } from './secretNotation.js';
import { looksChosen } from './secretValues.js';
import { type FoundSecret, found, matchOf } from './stickyMatch.js';

/** How far before an option its command is looked for. */
const COMMAND_LENGTH = 200;
const QUOTE = String.raw`\\{0,31}["']?`;
const ARGUMENT = String.raw`${QUOTE}([^\s"'\\]{3,400})`;
const VALUE = new RegExp(String.raw`[ \t=]{1,4}${ARGUMENT}`, 'y');
const LOGIN = /[ \t]{1,4}\\{0,31}["']?([^\s:"'\\$<{[]{1,200}):([^\s"'\\]{1,400})/y;
/** The key of an interface as the name of a user without a password. */
const LONE_LOGIN = /[ \t]{1,4}\\{0,31}["']?([^\s:"'\\$<{[]{16,400})(?=:(?:["'\s\\]|[^\x20-\x7e]|$))/y;
const LOGIN_OF_WINDOWS = /[ \t]{1,4}\\{0,31}["']?[^\s%,"'\\$<{[]{1,100}[%,]([^\s"'\\]{3,400})/y;
const COOKIE = /[ \t=]{1,4}\\{0,31}["']?(?=[^\s"'=]{1,100}=)/y;
const FILE_AND_LOGIN = new RegExp(String.raw`(?:[ \t]{1,4}[^\s-][^\s"']{0,200}){1,2}[ \t]{1,4}${ARGUMENT}`, 'y');
const SECOND = new RegExp(String.raw`[ \t]{1,4}["']?[^\s"'\\]{1,200}["']?[ \t]{1,4}${ARGUMENT}`, 'y');
const AFTER_ADDRESS = new RegExp(
  String.raw`[ \t]{1,4}set[ \t]{1,4}\S{1,60}[ \t]{1,4}\S{1,200}[ \t]{1,4}\S{1,200}[ \t]{1,4}${ARGUMENT}`,
  'y',
);
const IDENTIFIED =
  /[ \t]{1,4}(?:WITH[ \t]{1,4}["'`]?\w{1,60}["'`]?[ \t]{1,4})?(?:BY|AS)[ \t]{1,4}\\{0,31}["']([^"'\\]{3,200})/iy;
/** Ports and numbers: `-p 8080:80`, `-P 22`, `-p 1-1024`. */
const NUMBERS = /^[\d.:,[\]/-]+(?:tcp|udp)?$/;
const ECHOED =
  /\b(?:echo|printf|cat[ \t]{1,4}<<<)(?:[ \t]{1,4}-\w{1,3})?[ \t]{1,4}\\{0,31}["']?(?:[^\s:"'\\|[]{1,60}:)?([^\s"'|]{3,400}?)(?:\\{1,31}n)?\\{0,31}["']?[ \t]{0,4}\|[^|\n]*$/;

const HERE = /[ \t]{0,4}<<<[ \t]{0,4}\\{0,31}["']?(?:[^\s:"'\\[]{1,60}:)?([^\s"'\\]{3,400})/y;

/** Options with a value, by their letters, of programs that expect a secret there. */
const OPTIONS: Readonly<Record<string, RegExp>> = {
  p: /\b(?:login|sshpass|mongo\w*|cqlsh|plink|pscp|psftp|rdesktop|security|signtool|az|conan|influx|elasticsearch-\w+)\b/,
  pw: /\b(?:plink|pscp|psftp|putty)\b/,
  P: /\b(?:zip|zipcloak|unzip|sqlcmd|tsql|bcp|ipmitool|p4|psexec)\b/,
  a: /\bredis-cli\b/,
  w: /\b(?:ldap\w+|vncviewer)\b/,
  s: /\bldappasswd\b/,
  A: /\bsnmp\w+\b/,
  X: /\bsnmp\w+\b/,
  W: /\b(?:kdb5_util|slappasswd)\b/,
  k: /\b(?:openssl|login)\b/,
  t: /\b(?:login|auth)\b/,
};
/** Right behind the letter. */
const QUOTED = /\\{0,31}["']([^\s"'\\]{3,200})/y;
/** Programs with the value right behind the option's letter. */
const JOINED = /\b(?:mysql\w*|mariadb(?:-\w+)?|7z[arz]?|rar|unrar|sshpass)\b/;
const WITH_LOGIN = /\b(?:curl|wget|https?|xh|curlie|siege|ab)\b/;
const OF_WINDOWS = /\b(?:smbclient|rpcclient|smbmap|winexe|wmic|net|lftp|smbget)\b/;
/** Another user's name before the password, in any program. */
const USER_BEFORE = /[ \t](?:-[uU]|--user(?:name)?|-user|-login)[ =]\S{1,100}[ \t]/;
const AS_OTHER_USER = /\b(?:sudo|su|install|docker|podman|chroot|runuser)\b/;

/** @returns the secret after an option of one or two letters, or after `--user` */
export function findBehindOption(text: string, start: number, end: number): FoundSecret | null {
  const option = text.slice(start, Math.min(end, start + 8));
  if (!/^-(?:[A-Za-z]|-(?:proxy-)?user$)/.test(option)) return null;
  const command = commandBefore(text, start);
  const letter = option.charAt(1);
  if (option === '--user' || letter === 'u' || letter === 'U' || (letter === 'a' && !OPTIONS.a?.test(command))) {
    return end - start > 2 && letter !== '-' ? null : findLogin(text, end, command);
  }
  if (/^-[cnBmsd]{0,4}b[cnBmsd]{0,4}$/.test(option)) {
    if (/\b(?:ht|mosquitto_)passwd\b/.test(command))
      return lastGroup(matchOf(FILE_AND_LOGIN, text, end), end, 'password');
    return option === '-b' && /\bcurl\b/.test(command) ? findCookieOption(text, end) : null;
  }
  if (option === '-p' && JOINED.test(command)) {
    const quoted = lastGroup(matchOf(QUOTED, text, end), end, 'password');
    if (quoted !== null) return quoted;
  }
  if (letter === 'p' && end - start > 2 && option !== '-pw' && JOINED.test(command)) {
    const password = text.slice(start + 2, end) + (matchOf(PLAIN_VALUE, text, end)?.[0] ?? '');
    return isPlaceholder(password) ? null : found(start + 2, password, 'password');
  }
  const programs = OPTIONS[option.slice(1)];
  const match = programs === undefined ? null : matchOf(VALUE, text, end);
  const value = match?.[1] ?? '';
  if (match === null || NUMBERS.test(value) || value.startsWith('-')) return null;
  const isMeant = letter === 't' || (letter === 'k' && !/\bopenssl\b/.test(command)) ? looksRandom(value) : true;
  if (isMeant && programs?.test(command)) return lastGroup(match, end, 'password');
  const isPair = /^[pP]$/.test(letter) && USER_BEFORE.test(command) && !AS_OTHER_USER.test(command);
  return isPair && looksChosen(value) ? lastGroup(match, end, 'password') : null;
}

function findLogin(text: string, end: number, command: string): FoundSecret | null {
  if (WITH_LOGIN.test(command)) {
    const lone = matchOf(LONE_LOGIN, text, end);
    if (looksRandom(lone?.[1] ?? '')) return lastGroup(lone, end, 'password');
    return lastGroup(matchOf(LOGIN, text, end), end, 'password');
  }
  if (OF_WINDOWS.test(command)) return lastGroup(matchOf(LOGIN_OF_WINDOWS, text, end), end, 'password');
  const pair = AS_OTHER_USER.test(command) ? null : matchOf(LOGIN, text, end);
  return looksChosen(pair?.[2] ?? '') ? lastGroup(pair, end, 'password') : null;
}

export function findCookieOption(text: string, end: number): FoundSecret | null {
  const match = matchOf(COOKIE, text, end);
  return match === null ? null : cookiesAt(text, end + match[0].length);
}

/** @returns the secret after a word of a command whose arguments have no names, or before one that reads it from its input */
export function findArgument(text: string, start: number, end: number): FoundSecret | null {
  if (text.charAt(end) === ' ' && end - start === 6 && /config/i.test(text.slice(start, end)))
    return strictArgument(BEHIND_PLACE_AND_LOGIN, text, end);
  const command = commandBefore(text, start);
  switch (text.slice(start, end).toLowerCase()) {
    case 'add_user':
    case 'change_password':
      return /\brabbitmqctl\b/.test(command) ? argument(SECOND, text, end) : null;
    case 'user':
      if (/\bnet[ \t]{1,4}$/.test(command)) return strictArgument(SECOND, text, end);
      return /\/$/.test(command) && /\bnet[ \t]{1,4}use\b/.test(command) ? findAfterUser(text, end) : null;
    case 'obscure':
      return strictArgument(VALUE, text, end);
    case 'wpa_passphrase':
      return argument(SECOND, text, end);
    case 'http-basic':
      return strictArgument(BEHIND_PLACE_AND_USER, text, end);
    case 'setuser':
      return argument(RULE_OF_USER, text, end);
    case 'alias':
      return /\bmc(?:li)?[ \t]{1,4}$/.test(command) ? argument(AFTER_ADDRESS, text, end) : null;
    case 'sqlplus':
    case 'impdp':
    case 'expdp':
    case 'sqlldr':
    case 'rman':
    case 'thin':
      return lastGroup(matchOf(OF_ORACLE, text, end), end, 'password');
    case 'identified':
      return lastGroup(matchOf(IDENTIFIED, text, end), end, 'password');
    default:
      return null;
  }
}

/** As poetry and composer take the login of a repository. */
const BEHIND_PLACE_AND_USER = new RegExp(String.raw`\.\S{1,100}[ \t]{1,4}\S{1,100}[ \t]{1,4}${ARGUMENT}`, 'y');
const BEHIND_PLACE_AND_LOGIN = new RegExp(
  String.raw`(?:[ \t]{1,4}(?:set|--\w{1,10})){0,2}[ \t]{1,4}[\w.:/-]{1,100}[ \t]{1,4}[\w.@-]{1,60}:${ARGUMENT}`,
  'y',
);
/** A rule of Redis: `ACL SETUSER app on >…`. */
const RULE_OF_USER = /[ \t]{1,4}[^\n>]{1,100}[ \t]>([^\s"'\\]{3,400})/y;
/** A user, a slash and the password. */
const OF_ORACLE = /[ \t:]{1,4}(?:-\w{1,3}[ \t]{1,4}){0,3}["']?[\w$#.]{1,60}\/([^\s@"'\\/]{3,100})(?=[@"'\s]|$)/y;
const AFTER_USER = new RegExp(String.raw`:\S{1,100}[ \t]{1,4}${ARGUMENT}`, 'y');

/** `net use Z: \\server\share /user:me SECRET` */
function findAfterUser(text: string, end: number): FoundSecret | null {
  return strictArgument(AFTER_USER, text, end);
}

function argument(pattern: RegExp, text: string, end: number): FoundSecret | null {
  return lastGroup(matchOf(pattern, text, end), end, 'password');
}

function strictArgument(pattern: RegExp, text: string, end: number): FoundSecret | null {
  const match = matchOf(pattern, text, end);
  return looksChosen(match?.[1] ?? '') ? lastGroup(match, end, 'password') : null;
}

function commandBefore(text: string, start: number): string {
  const before = text.slice(Math.max(0, start - COMMAND_LENGTH), start);
  return before.slice(Math.max(before.lastIndexOf('\n'), before.lastIndexOf('|'), before.lastIndexOf('& ')) + 1);
}

/** @returns the password in a string that is the command's input: `chpasswd <<< root:***` */
export function findHere(text: string, end: number): FoundSecret | null {
  return lastGroup(matchOf(HERE, text, end), end, 'password');
}

/** The password in a command's piped input: `echo root:SECRET | chpasswd`. */
export function findPiped(text: string, start: number, free: number): FoundSecret | null {
  const before = text.slice(Math.max(free, start - COMMAND_LENGTH), start);
  const match = ECHOED.exec(before);
  const value = match?.[1] ?? '';
  if (match === null || isPlaceholder(value)) return null;
  return found(start - before.length + match.index + match[0].indexOf(value), value, 'password');
}
