/** Finds tokens by the mark of their issuer (secretMarks.ts). */
import { type Before, MARKS } from './secretMarks.js';
import { type FoundSecret, matchEnd, type Word } from './stickyMatch.js';

class MarkedToken {
  readonly mark: string;
  readonly kind: string;
  readonly before: Before;
  /** The position of its first character that belongs to no word; negative if all do. */
  readonly joint: number;
  readonly #body: string;
  #whole: RegExp | null = null;

  constructor(mark: string, body: string, kind: string, before: Before) {
    this.mark = mark;
    this.#body = body;
    this.kind = kind;
    this.before = before;
    this.joint = mark.search(/[^\w-]/);
  }

  /** Sticky; from the mark on. Made when a mark is met: making all of them takes a hook longer than what it does. */
  get whole(): RegExp {
    this.#whole ??= new RegExp(this.mark.replace(/[.$/]/g, String.raw`\$&`) + this.#body, 'y');
    return this.#whole;
  }
}

/** The end of a token that a person has to fill in. */
const FILLED = /^([xX*0.#_-])\1*$/;
const FILLED_LENGTH = 8;
/** Tokens by the first three characters of their marks. */
const BY_BEGINNING = new Map<number, MarkedToken[]>();
/** Tokens by the first character of their mark that belongs to no word, and the two before it: `vs.` for `hvs.`. */
const BY_JOINT = new Map<number, MarkedToken[]>();
/** Whether there are any, by the code of three characters: quicker than a map. */
const IS_BEGINNING = new Uint8Array(1 << 15);
const IS_JOINT = new Uint8Array(1 << 15);

for (const [, marks, body, kind, before = 'anything'] of MARKS) {
  for (const mark of marks.split(',')) {
    const token = new MarkedToken(mark, body, kind, before);
    const at = token.joint - 2;
    if (token.joint < 0) add(BY_BEGINNING, IS_BEGINNING, codeAt(mark, 0), token);
    else if (at >= 0) add(BY_JOINT, IS_JOINT, codeAt(mark, at), token);
    // Anything may stand before a single character.
    else
      for (let code = 0; code < 32; code += 1)
        add(BY_JOINT, IS_JOINT, codeOf(code, mark.charCodeAt(0), mark.charCodeAt(1)), token);
  }
}

function add(tokens: Map<number, MarkedToken[]>, isAny: Uint8Array, code: number, token: MarkedToken): void {
  isAny[code] = 1;
  const others = tokens.get(code);
  if (others === undefined) tokens.set(code, [token]);
  else others.push(token);
}

function codeAt(text: string, at: number): number {
  return codeOf(text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2));
}

/** Different for different letters, whatever their case. */
function codeOf(first: number, second: number, third: number): number {
  return ((first & 31) << 10) | ((second & 31) << 5) | (third & 31);
}

/** @returns whether a mark may begin with the three characters, by their codes */
export function mayBeginMark(first: number, second: number, third: number): boolean {
  return IS_BEGINNING[codeOf(first, second, third)] === 1;
}

/** @returns whether a mark may contain the three characters; the last belongs to no word */
export function mayJoinMark(first: number, last: number, behind: number): boolean {
  return IS_JOINT[codeOf(first, last, behind)] === 1;
}

/** @returns the first token with a mark in the word; it may go beyond its end */
export function findMarked(text: string, word: Word): FoundSecret | null {
  const { start, end } = word;
  const { codes } = word.scan;
  for (let at = start; at + 2 < end; at += 1) {
    if (!mayBeginMark(codes[at] ?? 0, codes[at + 1] ?? 0, codes[at + 2] ?? 0)) continue;
    const secret = findMarkedAt(text, at, word);
    if (secret !== null) return secret;
  }
  return null;
}

/** @returns the token whose mark begins at the position in the word */
export function findMarkedAt(text: string, at: number, word: Word): FoundSecret | null {
  for (const token of BY_BEGINNING.get(codeAt(text, at)) ?? []) {
    const secret = tokenAt(text, at, word, token);
    if (secret !== null) return secret;
  }
  return null;
}

/** @returns the token whose mark continues behind the word: `hvs.` */
export function findJoined(text: string, word: Word): FoundSecret | null {
  for (const token of BY_JOINT.get(codeAt(text, word.end - 2)) ?? []) {
    const at = word.end - token.joint;
    const secret = at < word.start ? null : tokenAt(text, at, word, token);
    if (secret !== null) return secret;
  }
  return null;
}

function tokenAt(text: string, at: number, word: Word, token: MarkedToken): FoundSecret | null {
  if (!text.startsWith(token.mark, at) || !mayStand(token.before, text, at, word.start)) return null;
  // Its first part goes up to the word's end. Looked at here, because a word may have thousands of marks.
  if (token.kind === 'jwt' && text.charAt(word.end) !== '.') return null;
  const to = matchEnd(token.whole, text, at);
  return to > 0 && !FILLED.test(text.slice(to - FILLED_LENGTH, to))
    ? { from: at, to, replacement: `[redacted:${token.kind}]` }
    : null;
}

function mayStand(before: Before, text: string, at: number, start: number): boolean {
  if (before === 'no word') return at === start;
  if (before === 'no base64') return at === start && !/[+/]/.test(text.charAt(at - 1));
  if (before === 'anything' || at === start) return true;
  return !/[A-Za-z]/.test(text.charAt(at - 1));
}
