/** Secrets behind short names that something near must confirm: a part of a JSON Web Key, an option of Windows, a port. */
import { looksRandom } from './randomText.js';
import { lastGroup, quotedEnd, SEPARATOR, valuePlace } from './secretNotation.js';
import { type FoundSecret, found, matchOf } from './stickyMatch.js';

const PGPASS = /:[\w*.-]{1,64}:[\w*.-]{1,64}:([^\s"'\\]{3,200})/y;
const SHORTEST_WEB_KEY = 40;
const PARTS_OF_WEB_KEY = /^(?:d|p|q|k|dp|dq|qi)$/;
const OF_WINDOWS = /\b(?:[wx]?freerdp\w*|rdesktop|mstsc|signtool|cmdkey|runas)\b[^\n]*$/i;
const OPTION_OF_WINDOWS = /[: ]([^\s"'\\]{3,200})/y;
/** How far before a name its command is looked for. */
const COMMAND_LENGTH = 200;

/** @returns a secret behind a name of one or two letters: a part of a JSON Web Key, or an option of a program of Windows */
export function findShortName(text: string, start: number, end: number): FoundSecret | null {
  const name = text.slice(start, end);
  if (name === 'p' && text.charAt(start - 1) === '/') return findOptionOfWindows(text, start, end);
  return PARTS_OF_WEB_KEY.test(name) ? findWebKey(text, end) : null;
}

function findOptionOfWindows(text: string, start: number, end: number): FoundSecret | null {
  return OF_WINDOWS.test(text.slice(Math.max(0, start - COMMAND_LENGTH), start))
    ? lastGroup(matchOf(OPTION_OF_WINDOWS, text, end), end, 'password')
    : null;
}

/** @returns the private part of a JSON Web Key, `"d":"…"`, next to its kind */
function findWebKey(text: string, end: number): FoundSecret | null {
  const separator = matchOf(SEPARATOR, text, end);
  if (separator?.[1] === undefined) return null;
  const place = valuePlace(text, end + separator[0].length, false);
  const value = text.slice(place.from, quotedEnd(text, place.from));
  if (!place.isQuoted || value.length < SHORTEST_WEB_KEY || !looksRandom(value)) return null;
  return /\bkty\b/.test(text.slice(Math.max(0, end - 2_000), end + 2_000))
    ? found(place.from, value, 'private_key')
    : null;
}

/** @param end after a port of PostgreSQL, as in a line of `.pgpass` */
export function findPasswordOfPostgres(text: string, end: number): FoundSecret | null {
  return lastGroup(matchOf(PGPASS, text, end), end, 'password');
}
