/** The doctor's result for one check, and the time limit of one part of the examination. */
import { describeError, UnreachableError } from '../../src/errors.js';
import { oneLine } from '../../src/log/visibleText.js';
import { atMost, type Clock, describeDuration } from '../../src/time.js';

const LATE = Symbol('late');
const ONCE_MORE = 'fix what it says, then run the doctor again';

export type Verdict = 'ok' | 'warning' | 'fault' | 'skipped';

export interface CheckResult {
  /** Short and stable: `redis eviction`. */
  readonly name: string;
  readonly verdict: Verdict;
  /** A sentence: what was seen. Never contains a secret. */
  readonly found: string;
  /** A sentence: what to do. Every complaint has one. */
  readonly remedy: string | null;
}

export function ok(name: string, found: string): CheckResult {
  return result(name, 'ok', found);
}

/** Not checked: there is nothing to check, or something else has to work first. */
export function skipped(name: string, found: string): CheckResult {
  return result(name, 'skipped', found);
}

/** It works, but not as well as it could, or not for long. */
export function warning(name: string, found: string, remedy: string): CheckResult {
  return result(name, 'warning', found, remedy);
}

/** It does not work, or loses what it must keep. */
export function fault(name: string, found: string, remedy: string): CheckResult {
  return result(name, 'fault', found, remedy);
}

/**
 * A question that got no answer, or none that decides. Nothing is known to be amiss, so it is no fault; it is not well either, and
 * nothing must be said as if there had been an answer.
 * @param why a clause, such as the words of an error
 */
export function unchecked(name: string, why: string): CheckResult {
  return warning(name, uncheckedWords(why), ONCE_MORE);
}

function uncheckedWords(why: string): string {
  return `could not be checked: ${why}`;
}

/** Paths and words of others are in most sentences: each stays one line. */
function result(name: string, verdict: Verdict, found: string, remedy: string | null = null): CheckResult {
  return { name: oneLine(name), verdict, found: oneLine(found), remedy: remedy === null ? null : oneLine(remedy) };
}

/** @throws UnreachableError after the limit; before it, what `work` throws */
export async function within<T>(work: Promise<T>, limitMs: number, clock: Clock): Promise<T> {
  const answer = await atMost(clock, limitMs, work, LATE);
  if (answer === LATE) throw new UnreachableError(`no answer within ${describeDuration(limitMs)}`);
  return answer;
}

/** @returns the part's results; if it was too slow or failed itself, a fault that says so */
export async function examined(
  name: string,
  work: Promise<CheckResult[]>,
  limitMs: number,
  clock: Clock,
): Promise<CheckResult[]> {
  try {
    return await within(work, limitMs, clock);
  } catch (error) {
    return [fault(name, uncheckedWords(describeError(error)), ONCE_MORE)];
  }
}
