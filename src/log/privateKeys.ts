/**
 * Finds private keys in a text: whole ones, and those whose first or last lines were cut off.
 *
 * A key is printed as lines of a diff, of a listing with numbers, of a program, of a table, of a log, as one line of JSON in JSON, and
 * in any mixture of these. So there is no list of what may stand around its lines. A key is the chain of lines of base64 characters
 * (keyLines.ts) that begins at its first line or ends at its last one.
 */
import { gapAround, isGap, type Line, lineBefore, lineBehind } from './keyLines.js';
import { type FoundSecret, matchEnd, matchOf } from './stickyMatch.js';

/** The first line of a private key, of any kind. */
export const KEY_BEGINS = '-----BEGIN PRIVATE KEY-----';
const SPACE = String.raw`(?:[ +\u00a0]|%20|\\{1,31}u0020|&nbsp;|&#32;)`;
const NAME = `(?:[A-Za-z0-9.]{1,20}${SPACE}){0,5}(?:PRIVATE${SPACE}KEY(?:${SPACE}BLOCK)?|Static${SPACE}key${SPACE}V\\d)`;
const BEGIN = new RegExp(`-{4,5} ?BEGIN${SPACE}${NAME} ?-{4,5}|Private-Lines: ?\\d{1,3}`, 'y');
const END = new RegExp(`-{4,5} ?END${SPACE}${NAME} ?-{4,5}|Private-(?:MAC|Hash):`, 'y');
const SOME_END = new RegExp(END.source);
/** The most usual ones as they are written, to recognise them when a cut goes through them. */
const WRITTEN = ['', 'RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'ENCRYPTED ', 'PGP '].map(
  (kind) => ` ${kind}PRIVATE KEY${kind === 'PGP ' ? ' BLOCK' : ''}-----`,
);
const LONGEST_MARK = 48;
const HEADERS = /(?:\s|\\{1,31}[nr]){0,8}(?:[A-Z][A-Za-z-]{2,20}: [^\r\n\\"]{0,200}(?:\s|\\{1,31}[nr]){1,8}){1,8}/y;
/** A first line that is short: nothing but white space and quotes may stand before it. */
const SHORT_FIRST = /((?:\s|\\{1,31}[nrt]|["']|%0[AaDd]){0,80})[A-Za-z0-9+/=]{8,200}(?=["'\s\\]|$)/y;
const REPLACEMENT = '[redacted:private_key]';

/**
 * @param at position of a mark: the dashes before BEGIN or END, or `Private-`
 * @param free the text before it is replaced already
 * @returns the key that begins with the mark, or that ends with it if its first lines were cut off
 */
export function findPrivateKey(text: string, at: number, free: number): FoundSecret | null {
  const begun = matchEnd(BEGIN, text, at);
  if (begun > 0) return keyBehind(text, at, begun);
  const to = matchEnd(END, text, at) || endOfCutMark(text, at);
  if (to === 0) return null;
  const from = beginOfKey(text, at, to, free);
  return from < at ? { from, to, replacement: REPLACEMENT } : null;
}

/**
 * @param end of a word at the text's beginning that ends with dashes
 * @returns the key whose first line was cut off there
 */
export function findCutKey(text: string, end: number): FoundSecret | null {
  const rest = text.slice(0, end).replace(/^…|^\.{3}/, '');
  const isMark = rest.length < LONGEST_MARK && WRITTEN.some((written) => `-----BEGIN${written}`.endsWith(rest));
  return isMark ? keyBehind(text, end - rest.length, end) : null;
}

/** @returns the secret with the lines that follow it, if it is the first line of a key that has no mark */
export function withLinesOfKey(text: string, secret: FoundSecret | null): FoundSecret | null {
  if (secret?.replacement !== REPLACEMENT) return secret;
  return { ...secret, to: endOfLines(text, secret.from, secret.to) };
}

/** @returns whether a private key begins in the text and continues after its end */
export function endsInsideKey(text: string): boolean {
  const at = text.lastIndexOf('-----BEGIN');
  if (at < 0) return false;
  const begun = matchEnd(BEGIN, text, at);
  if (begun === 0) return WRITTEN.some((written) => `-----BEGIN${written}`.startsWith(text.slice(at)));
  return isGap(text.slice(endOfLines(text, at, begun)));
}

/**
 * @returns a function that says whether the next line of a text is one of a private key, which a line alone does not show; call it
 *   with every line, in order
 */
export function keyFollower(): (line: string) => boolean {
  let first = '';
  let open = '';
  return (line) => {
    const text = `${open}\n${line}`;
    const at = text.lastIndexOf('-----BEGIN');
    const begun = at < 0 ? 0 : matchEnd(BEGIN, text, at);
    const isFirst = at > open.length;
    const last = begun === 0 ? 0 : endOfLines(text, at, begun);
    const isOfKey = begun > 0 && !isFirst && (last > open.length || SOME_END.test(line));
    const continues = begun > 0 && !SOME_END.test(line) && isGap(text.slice(last));
    if (isFirst) first = line;
    // The first line, and the last one to compare the next one with.
    open = !continues ? '' : isFirst ? line : isOfKey ? `${first}\n${line}` : text;
    return isOfKey;
  };
}

function keyBehind(text: string, at: number, begun: number): FoundSecret | null {
  const last = endOfLines(text, at, begun);
  if (last === begun) return null;
  const behind = text.slice(last, last + 500);
  const end = SOME_END.exec(behind);
  const to = end !== null && isGap(behind.slice(0, end.index)) ? last + end.index + end[0].length : last;
  return { from: at, to, replacement: REPLACEMENT };
}

/** @returns the end of the last line of the key whose mark stands at `at` to `begun`; `begun` if there is none */
function endOfLines(text: string, at: number, begun: number): number {
  let gap = gapAround(text, at, begun);
  let last = begun;
  for (;;) {
    const line = lineBehind(text, last, gap) ?? (last === begun ? shortFirstLine(text, begun) : null);
    if (line === null) return last;
    gap = text.slice(last, line.begin);
    last = line.end;
  }
}

function shortFirstLine(text: string, begun: number): Line | null {
  const from = matchEnd(HEADERS, text, begun) || begun;
  const match = matchOf(SHORT_FIRST, text, from);
  if (match === null || (from === begun && match[1] === '')) return null;
  return { begin: from + (match[1]?.length ?? 0), end: from + match[0].length };
}

function beginOfKey(text: string, at: number, to: number, free: number): number {
  let gap = gapAround(text, at, to);
  let first = at;
  for (;;) {
    const line = lineBefore(text, first, free, gap);
    if (line === null) return first;
    gap = text.slice(line.end, first);
    first = line.begin;
  }
}

/** @returns the text's end if it was cut within the last line of a key */
function endOfCutMark(text: string, at: number): number {
  if (text.length - at > LONGEST_MARK) return 0;
  const rest = text.slice(at).replace(/(?:…|\.{3})$/, '');
  if (!rest.startsWith('-----E')) return 0;
  return WRITTEN.some((written) => `-----END${written}`.startsWith(rest)) ? text.length : 0;
}
