/** How long an orderly stop of a bridge may take. */
import type { Timings } from '../../src/config/settings.js';
import type { Logger } from '../../src/log/logger.js';
import { atMost, type Clock, SECOND } from '../../src/time.js';

/** Beyond its runs. An unreachable Redis must not keep a stopped bridge alive. */
const LEAVING_MS = 20 * SECOND;

/** @returns the longest that an orderly stop takes, in milliseconds; a supervisor must wait longer than that */
export function stopWithinMs({ drainMs, killGraceMs }: Timings): number {
  return drainMs + 2 * killGraceMs + LEAVING_MS;
}

/** Logs whether the stop came to its end in time. @throws what the stop throws */
export async function awaitStop(
  stopped: Promise<unknown>,
  timings: Timings,
  clock: Clock,
  logger: Logger,
): Promise<void> {
  const isInOrder = stopped.then(() => true);
  if (await atMost(clock, stopWithinMs(timings), isInOrder, false)) logger.info('the bridge has stopped');
  else logger.error('the bridge could not stop in order in time; what it left, the reaper and the next bridge end');
}
