/**
 * Finds private keys in a text: whole ones, and those whose first or last lines were cut off.
 *
 * A key is printed as lines of a diff, of a listing with numbers, of a program, of a table, of a log, as one line of JSON in JSON, and
 * in any mixture of these. So there is no list of the signs around its lines. A key is the chain of lines of base64 characters
 * (keyLines.ts) that begins at its first line or ends at its last one.
 */
import type { Line } from './keyCharacters.js';
import { gapsAround, isGap, MARK } from './keyGaps.js';
import { Chain, isTorn, lineBefore, lineBehind, wholeLineAt } from './keyLines.js';
import { type FoundSecret, matchEnd, matchOf } from './stickyMatch.js';

/** The first line of a private key, of any kind. */
export const KEY_BEGINS = '-----BEGIN PRIVATE KEY-----';
const SPACE = String.raw`(?:[ +\u00a0]|\r?\n|\\{1,31}n|%20|\\{1,31}u0020|&nbsp;|&#32;)`;
/** A narrow terminal breaks the line within a word. */
const BREAK = String.raw`(?:\r?\n|\\{1,31}n)`;
const broken = (word: string) => [...word].join(`${BREAK}?`);
const KIND = `(?:[A-Za-z0-9.]{1,20}${SPACE}){0,5}`;
const NAME = `${KIND}(?:${broken('PRIVATE')}${SPACE}${broken('KEY')}(?:${SPACE}${broken('BLOCK')})?|Static${SPACE}key${SPACE}V\\d)`;
const DASHES = `(?: |${BREAK})?(?:-${BREAK}?){3,4}-`;
const BEGIN = new RegExp(`-{4,5} ?BEGIN${SPACE}${NAME}${DASHES}|Private-Lines: ?\\d{1,3}`, 'y');
const END = new RegExp(`-{4,5} ?END${SPACE}${NAME}${DASHES}|Private-(?:MAC|Hash):`, 'y');
const SOME_BEGIN = new RegExp(BEGIN.source);
const SOME_END = new RegExp(END.source);
/** The most usual ones as they are written, to recognise them when a cut goes through them. */
const WRITTEN = ['', 'RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'ENCRYPTED ', 'PGP '].map(
  (kind) => ` ${kind}PRIVATE KEY${kind === 'PGP ' ? ' BLOCK' : ''}-----`,
);
const LONGEST_MARK = 48;
const CUT_END = /-----E[A-Z ]{0,32}-{0,5}(?=\\{0,31}["'`]|…|\.\.\.|$)/y;
const HEADERS = /(?:\s|\\{1,31}[nr]){0,8}(?:[A-Z][A-Za-z-]{2,20}: [^\r\n\\"]{0,200}(?:\s|\\{1,31}[nr]){1,8}){1,8}/y;
/** A first line that is short: only white space and quotes may precede it. */
const SHORT_FIRST = /((?:\s|\\{1,31}[nrt]|["']|%0[AaDd]){0,80})[A-Za-z0-9+/=]{8,200}(?=["'\s\\]|$)/y;
/** Between the last line that was found and the last mark, or between both marks if the lines are wrapped. */
const NEAR = 500;
const LONGEST_WRAPPED = 16 * 1_024;
const RUN = /[A-Za-z0-9+/=]{8,}/g;
/** As much of a wrapped key is base64; the rest are stamps, names, line ends. */
const SHARE_OF_KEY = 0.25;
const REPLACEMENT = '[redacted:private_key]';
/** The beginnings of marks without dashes that are lines of a key themselves. */
const FIRST_LINE = /(?:M[A-Z]|b3Bl|LS0t)/y;

/** @returns the key that begins or ends with the mark at `at`, the dashes before BEGIN or END, or `Private-` */
export function findPrivateKey(text: string, at: number): FoundSecret | null {
  const begun = matchEnd(BEGIN, text, at);
  if (begun > 0) return keyBehind(text, at, begun);
  const end = matchEnd(END, text, at);
  const to = end || endOfCutMark(text, at);
  if (to === 0) return null;
  const from = beginOfLines(text, at, to);
  if (from < at) return { from, to, replacement: REPLACEMENT };
  return end === 0 ? null : reversedKey(text, at, end);
}

/** @param end of a word at the text's beginning that ends with dashes, a key's first line that was cut off there */
export function findCutKey(text: string, end: number): FoundSecret | null {
  const rest = text.slice(0, end).replace(/^…|^\.{3}/, '');
  const isMark = rest.length < LONGEST_MARK && WRITTEN.some((written) => `-----BEGIN${written}`.endsWith(rest));
  return isMark ? keyBehind(text, end - rest.length, end) : null;
}

/** @returns the secret with the lines that follow it, if it is the first line of a key that has no mark */
export function withLinesOfKey(text: string, secret: FoundSecret | null): FoundSecret | null {
  if (secret?.replacement !== REPLACEMENT || matchEnd(FIRST_LINE, text, secret.from) === 0) return secret;
  const first = wholeLineAt(text, secret.from);
  const chain = new Chain();
  chain.add(first.end - first.begin, null);
  return { ...secret, to: Math.max(secret.to, endOfLines(text, secret.to, chain)) };
}

/** @returns whether a private key begins in the text and continues after its end */
export function endsInsideKey(text: string): boolean {
  const at = text.lastIndexOf('-----BEGIN');
  if (at < 0) return false;
  const begun = matchEnd(BEGIN, text, at);
  if (begun === 0) return WRITTEN.some((written) => `-----BEGIN${written}`.startsWith(text.slice(at)));
  return isGap(text.slice(endOfKey(text, at, begun)));
}

/** @returns whether the next line of a text is one of a private key; call it with every line, in order */
export function keyFollower(): (line: string) => boolean {
  let first = '';
  let open = '';
  return (line) => {
    const text = `${open}\n${line}`;
    const at = text.lastIndexOf('-----BEGIN');
    const begun = at < 0 ? 0 : matchEnd(BEGIN, text, at);
    const isFirst = at > open.length;
    const last = begun === 0 ? 0 : endOfKey(text, at, begun);
    const isOfKey = begun > 0 && !isFirst && (last > open.length || SOME_END.test(line));
    const continues = begun > 0 && !SOME_END.test(line) && isGap(text.slice(last));
    if (isFirst) first = line;
    // The first line, and the last one to compare the next one with.
    open = !continues ? '' : isFirst ? line : isOfKey ? `${first}\n${line}` : text;
    return isOfKey;
  };
}

function keyBehind(text: string, at: number, begun: number): FoundSecret | null {
  const last = endOfKey(text, at, begun);
  const behind = text.slice(last, last + NEAR);
  const end = last === begun ? null : SOME_END.exec(behind);
  const to = end !== null && isGap(behind.slice(0, end.index)) ? last + end.index + end[0].length : 0;
  const wrapped = to > 0 ? to : endOfWrapped(text, begun, last);
  if (wrapped === 0 && last === begun) return null;
  return { from: at, to: wrapped || last, replacement: REPLACEMENT };
}

/** @returns the end of the mark behind the key, if the text between the marks is a key in pieces; zero if it is not */
function endOfWrapped(text: string, begun: number, last: number): number {
  const behind = text.slice(last, last + LONGEST_WRAPPED);
  const next = behind.search(MARK);
  const to = next < 0 ? 0 : matchEnd(END, text, last + next);
  if (to === 0) return 0;
  const between = text.slice(begun, last + next);
  const runs = between.match(RUN)?.filter(isTorn) ?? [];
  const isKey = runs.join('').length > between.length * SHARE_OF_KEY;
  return isKey ? to : 0;
}

/** @returns the key if its lines are in reverse order, as a log with the latest line first shows it */
function reversedKey(text: string, at: number, end: number): FoundSecret | null {
  const last = endOfLines(text, end, new Chain(gapsAround(text, at, end)));
  const behind = text.slice(last, last + NEAR);
  const begin = last === end ? null : SOME_BEGIN.exec(behind);
  if (begin === null || !isGap(behind.slice(0, begin.index))) return null;
  return { from: at, to: last + begin.index + begin[0].length, replacement: REPLACEMENT };
}

/** @returns the end of the last line of the key whose mark extends from `at` to `begun`; `begun` if there is none */
function endOfKey(text: string, at: number, begun: number): number {
  const chain = new Chain(gapsAround(text, at, begun));
  const last = endOfLines(text, begun, chain);
  if (last > begun) return last;
  const first = shortFirstLine(text, begun);
  if (first === null) return begun;
  chain.add(first.end - first.begin, text.slice(begun, first.begin));
  return endOfLines(text, first.end, chain);
}

function endOfLines(text: string, from: number, chain: Chain): number {
  let last = from;
  for (;;) {
    const line = lineBehind(text, last, chain);
    if (line === null) return last;
    last = line.end;
  }
}

function shortFirstLine(text: string, begun: number): Line | null {
  const from = matchEnd(HEADERS, text, begun) || begun;
  const match = matchOf(SHORT_FIRST, text, from);
  if (match === null || (from === begun && match[1] === '')) return null;
  const line = { begin: from + (match[1]?.length ?? 0), end: from + match[0].length };
  return isTorn(text.slice(line.begin, line.end)) ? line : null;
}

/** @returns where the lines begin that end before the mark at `at` to `to`; `at` if there is none */
function beginOfLines(text: string, at: number, to: number): number {
  const chain = new Chain(gapsAround(text, at, to));
  let first = at;
  for (;;) {
    const line = lineBefore(text, first, chain);
    if (line === null) return first;
    first = line.begin;
  }
}

/** @returns the end of the text, or of the string in it, if it was cut within the last line of a key; otherwise zero */
function endOfCutMark(text: string, at: number): number {
  const cut = matchOf(CUT_END, text, at)?.[0] ?? '';
  return cut !== '' && WRITTEN.some((written) => `-----END${written}`.startsWith(cut)) ? at + cut.length : 0;
}
