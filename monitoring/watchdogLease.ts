/**
 * Which watchdog acts. One lease per logs folder, whose id stands in a file there: processes that share the folder take
 * turns, hosts with folders of their own have watchdogs of their own. The fencing number stands in every commit.
 */
import { ensureLogsFolderId } from '../src/logsFolder.js';
import { KeptLease, type KeptLeaseOptions, type LeaseWords } from '../src/store/keptLease.js';

const WORDS: LeaseWords = {
  standsBy: 'another watchdog acts for this logs folder; this one stands by',
  begins: 'this watchdog acts now',
  ends: 'another watchdog acts; this one observes',
  fenced: 'another watchdog acts for this logs folder now',
};

export interface WatchdogLeaseOptions
  extends Pick<KeptLeaseOptions, 'leases' | 'clock' | 'logger' | 'leaseMs' | 'here' | 'logsFolder'> {
  /** The end of the last time in which this process was away, epoch milliseconds; minus infinity without one. */
  readonly backSince: () => number;
  /** Called when this process begins to act. */
  readonly onActing: () => void;
}

export class WatchdogLease extends KeptLease {
  #logsId: string | null = null;

  constructor({ backSince, ...options }: WatchdogLeaseOptions) {
    const { logsFolder, clock, leaseMs } = options;
    super({
      ...options,
      name: 'watchdog lease',
      words: WORDS,
      leaseName: async () => {
        this.#logsId = await ensureLogsFolderId(logsFolder, clock);
        return watchdogLeaseName(this.#logsId);
      },
      // It stood in while no watchdog of the folder was there.
      yields: isStandIn,
      // Where this process was away, the holder may have been as well: it has a lease of time to come back.
      spareUntil: () => backSince() + leaseMs,
    });
  }

  /** The id of the folder that it is about; null before the start. */
  get logsId(): string | null {
    return this.#logsId;
  }
}

/** Of another logs folder; see `actedFolders.ts`. */
function isStandIn(owner: string): boolean {
  try {
    return (JSON.parse(owner) as { stands_in?: boolean }).stands_in === true;
  } catch {
    return false;
  }
}

/** @returns the name of the lease of whoever acts for a logs folder */
export function watchdogLeaseName(logsId: string): string {
  return `watchdog:${logsId}`;
}
