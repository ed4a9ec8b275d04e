/** Two counters that show why a timer was late: whether they advanced while the host slept or this process was suspended. */
import { platform, uptime } from 'node:os';
import { SECOND } from '../time.js';

/** Milliseconds, each from its own start. */
export interface HostCounters {
  /** Since the boot, including the host's sleep, whatever happens to the wall clock; null if the system has no such counter. */
  sinceBootMs(): number | null;
  /** Processor time of this process, all threads together. */
  processorMs(): number;
}

export const systemCounters: HostCounters = {
  // Other systems derive it from the wall clock, or count whole seconds.
  sinceBootMs: () => (platform() === 'linux' ? uptime() * SECOND : null),
  processorMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};
