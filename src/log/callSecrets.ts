/** Passwords among the arguments of a call: `login("me", "…")`, `auth=("me", "…")`, `setPassword("…")`. */
import { isVeryRandom, looksRandom } from './randomText.js';
import { looksChosen } from './secretValues.js';
import { type FoundSecret, found, matchEnd } from './stickyMatch.js';

const OPENED = /[ \t]{0,2}(?:=[ \t]{0,2})?\(/y;
const SHORTEST_KEY = 20;
const LONGEST_ARGUMENTS = 300;
/** Texts, plain arguments, and calls within them. */
const ARGUMENTS = /^(?:[^()"'`\n]|"[^"\n]*"|'[^'\n]*'|`[^`\n]*`|\([^()"'\n]{0,60}\))*/;
const TEXT = /(\\{0,31}["'`])([^"'`\\\n]*)\1/g;
/** The name of an account at Twilio. */
const ACCOUNT = /^AC[0-9a-f]{32}$/;

/** @param end of the call's name @param isSetter whether no user's name comes before the secret */
export function findInCall(text: string, end: number, isSetter: boolean): FoundSecret | null {
  const begin = matchEnd(OPENED, text, end);
  if (begin === 0) return null;
  const [argument = ''] = ARGUMENTS.exec(text.slice(begin, begin + LONGEST_ARGUMENTS)) ?? [];
  for (const [index, match] of [...argument.matchAll(TEXT)].entries()) {
    const [whole, , value = ''] = match;
    const isNamed = isSetter ? index === 0 : index > 0;
    // `("me", password)`: anything in between is no text.
    if (!isNamed || (!looksChosen(value) && !looksRandom(value))) continue;
    return found(begin + match.index + whole.indexOf(value), value, 'password');
  }
  return null;
}

/** @param end of the name of the function that makes a client; its key may be any argument */
export function findInClient(text: string, end: number): FoundSecret | null {
  const begin = matchEnd(OPENED, text, end);
  if (begin === 0) return null;
  const [argument = ''] = ARGUMENTS.exec(text.slice(begin, begin + LONGEST_ARGUMENTS)) ?? [];
  for (const match of argument.matchAll(TEXT)) {
    const [whole, , value = ''] = match;
    const isKey =
      value.length >= SHORTEST_KEY && !ACCOUNT.test(value) && (isVeryRandom(value) || /^[0-9a-f]{32,}$/.test(value));
    if (isKey) return found(begin + match.index + whole.indexOf(value), value, 'api_key');
  }
  return null;
}

/** From the name to the end of its statement: a type, a comparison, a call. */
const STATEMENT = /^\\{0,31}["'`]?[\])]{0,2}[ \t]{0,4}(?:[:=.{]|!=)/;
const NEXT_NAME = /,\s{0,8}\\{0,31}["']?[\w-]{1,40}\\{0,31}["']?\s{0,4}[:=]/;
/** No code between two texts. */
const PLAIN = /^[\w!@#$%^&*+.~?-]+$/;
const LONGEST_STATEMENT = 200;

/** The secret that is a text later in the same statement: as a default, in a comparison, behind a type. */
export function findInStatement(text: string, end: number, isPassword: boolean): FoundSecret | null {
  const rest = text.slice(end, end + LONGEST_STATEMENT);
  const [line = ''] = /^[^\n]*/.exec(rest) ?? [];
  if (!STATEMENT.test(line)) return null;
  for (const match of line.matchAll(TEXT)) {
    const [whole, , value = ''] = match;
    if (NEXT_NAME.test(line.slice(0, match.index))) return null;
    const isKey = value.length >= SHORTEST_KEY && (isVeryRandom(value) || /^[0-9a-f]{32,}$/.test(value));
    if (!isKey && !(isPassword && PLAIN.test(value) && looksChosen(value))) continue;
    return found(end + match.index + whole.indexOf(value), value, 'value');
  }
  return null;
}
