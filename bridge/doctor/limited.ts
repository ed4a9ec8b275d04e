/** The time limit of one part of the examination. */
import { describeError, UnreachableError } from '../../src/errors.js';
import { atMost, type Clock, describeDuration } from '../../src/time.js';
import { type CheckResult, fault } from './checkResult.js';

const LATE = Symbol('late');

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
    return [fault(name, `could not be looked at: ${describeError(error)}`, 'correct what it says, then look again')];
  }
}
