/** Keeps trying while Redis is unavailable. */

import { isStoreTrouble } from '../storeTrouble.js';
import { type Backoff, type Clock, pauseAfter } from '../time.js';

const BACKOFF: Backoff = { firstMs: 200, longestMs: 5_000 };

/** @param work safe to repeat @returns null if the signal aborted first @throws the error of `work` if repeating cannot help */
export async function untilStored<T>(
  clock: Clock,
  signal: AbortSignal,
  onTrouble: (error: unknown) => void,
  work: () => Promise<T>,
): Promise<T | null> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isStoreTrouble(error)) throw error;
      onTrouble(error);
      await clock.sleep(pauseAfter(failures, BACKOFF), signal);
    }
  }
  return null;
}
