/** A program's own word that it waits for a person, which needs no inference. */
import type { BrokenRule, Judged } from './stuck.js';

export interface PublishedWait {
  /** The dialog, in the program's words, redacted. Null if it does not say. */
  readonly waiting_for: string | null;
  /** UTC epoch milliseconds. */
  readonly since: number;
}

/** @returns the judgement, which does not count the time that a person takes as silence */
export function judgedInWait(judged: Judged | null, wait: PublishedWait | null): Judged | null {
  if (judged === null || wait === null) return judged;
  return { ...judged, doing: 'waiting', broken: unlessSilent(judged.broken, wait) };
}

/** @returns the rules that time alone does not break */
export function unlessSilent<Rule extends Pick<BrokenRule, 'rule'>>(
  broken: readonly Rule[],
  wait: PublishedWait | null,
): readonly Rule[] {
  return wait === null ? broken : broken.filter(({ rule }) => rule !== 'silence');
}
