/** Why git has not answered a question: it refused, and said why, or it did not answer at all. Only then does asking again help. */
import { SECOND } from '../../src/time.js';
import { whereSettingsAre } from './deedVariables.js';
import { type GitEnd, type GitVariables, placeLine, runGit } from './gitLine.js';

/** Git exits so if it cannot do what it is asked. Below are answers, such as no. */
export const FATAL = 128;
const LIMIT_MS = 5 * SECOND;
const IN_FRONT = /^(?:fatal|error|warning): /;

export interface Refusal {
  /** Git's words at the last question that it refused, in one line; null if it did not answer the last one, or refused none. */
  readonly refusal: string | null;
}

/** Remembers the last question without an answer. */
export class Refusals {
  #last: string | null = null;
  readonly #ours: string;
  readonly #common: string;

  /** @param ours the folder that git was given in the place of `common`: people do not know it */
  constructor(ours: string, common: string) {
    this.#ours = ours;
    this.#common = common;
  }

  get last(): string | null {
    return this.#last;
  }

  /** @returns the same */
  note(end: GitEnd): GitEnd {
    // A program that was killed may have printed a warning before.
    if (end.code === null) this.#last = null;
    else if (end.code >= FATAL) this.#last = refusalOf(end)?.replaceAll(this.#ours, this.#common) ?? null;
    return end;
  }
}

/** @returns git's words, the fatal ones of several; null if it said nothing */
function refusalOf({ err }: GitEnd): string | null {
  const lines = err.split('\n').filter((line) => line.trim() !== '');
  const line = lines.find((each) => each.startsWith('fatal: ')) ?? lines[0];
  return line?.trim().replace(IN_FRONT, '') ?? null;
}

/** @returns the end of a sentence about what git does not say */
export function whyUnanswered({ refusal }: Refusal): string {
  return refusal ?? 'try again';
}

/** @returns a sentence about what git cannot do, with git's own words if there are some */
export function withRefusal(sentence: string, { refusal }: Refusal): string {
  return refusal === null ? sentence : `${sentence}: ${refusal}`;
}

/** @returns why git does not work in a directory at all, such as because of its configuration or the owner of its files; null if it does */
export function refusalAt(directory: string, variables: GitVariables): string | null {
  const end = runGit(placeLine(directory, whereSettingsAre(variables)), { limitMs: LIMIT_MS });
  return end.code === 0 ? null : refusalOf(end);
}
