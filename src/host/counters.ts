/** Two counters that tell why a timer came late: they go on, or do not, while the host sleeps or this process stands. */
import { platform, uptime } from 'node:os';
import { SECOND } from '../time.js';

/** Milliseconds, each from a start of its own. */
export interface HostCounters {
  /** Since the boot, the host's sleep included, whatever becomes of the wall clock; null where the system has none. */
  sinceBootMs(): number | null;
  /** Processor time that this process has used, all threads together. */
  processorMs(): number;
}

export const systemCounters: HostCounters = {
  // Elsewhere it is derived from the wall clock, or counted in whole seconds.
  sinceBootMs: () => (platform() === 'linux' ? uptime() * SECOND : null),
  processorMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};
