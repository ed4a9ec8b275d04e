/** Patterns that are tried at one position of a text (sticky, flag `y`), and their results. */

export interface FoundSecret {
  readonly from: number;
  readonly to: number;
  readonly replacement: string;
}

/** The facts about a text while it is searched. */
export interface Scan {
  readonly codes: Uint16Array;
  /** Up to there are lines of base64 that are known to be public. */
  publicTo: number;
}

/** A run of letters, digits, `_` and `-` in a text. */
export interface Word {
  readonly start: number;
  readonly end: number;
  readonly scan: Scan;
}

export function found(from: number, value: string, kind: string): FoundSecret {
  return { from, to: from + value.length, replacement: `[redacted:${kind}]` };
}

export function matchOf(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}

export function matchEnd(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : 0;
}
