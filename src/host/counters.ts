/** Two counters that show why a timer was late: whether they advanced while the host slept or this process was suspended. */
import { platform, uptime } from 'node:os';
import { type Clock, SECOND } from '../time.js';

/** Milliseconds, each from its own start. */
export interface HostCounters {
  /** Since the boot, including the host's sleep, whatever happens to the wall clock; null if the system has no such counter. */
  sinceBootMs(): number | null;
  /** Processor time of this process, all threads together. */
  processorMs(): number;
}

/** Reading the boot's counter opens, reads and closes a file. */
const READ_AGAIN_AFTER_MS = SECOND;
let lastRead: { readonly clock: Clock; readonly sinceBootMs: number; readonly at: number } | null = null;

/**
 * As {@link HostCounters.sinceBootMs}, but read at most once a second, and counted on from there without the host's sleep. So it
 * may be too low, by a sleep within the last second: what began then seems older than it is, never younger.
 */
export function leastSinceBootMs(clock: Clock): number | null {
  const now = clock.monotonic();
  const passedMs = lastRead?.clock === clock ? now - lastRead.at : READ_AGAIN_AFTER_MS;
  if (lastRead !== null && passedMs < READ_AGAIN_AFTER_MS) return lastRead.sinceBootMs + passedMs;
  const sinceBootMs = systemCounters.sinceBootMs();
  lastRead = sinceBootMs === null ? null : { clock, sinceBootMs, at: now };
  return sinceBootMs;
}

export const systemCounters: HostCounters = {
  // Other systems derive it from the wall clock, or count whole seconds.
  sinceBootMs: () => (platform() === 'linux' ? uptime() * SECOND : null),
  processorMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};
