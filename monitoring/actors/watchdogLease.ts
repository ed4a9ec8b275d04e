/**
 * Which watchdog acts. One lease per logs folder, whose id stands in a file there: processes that share the folder take
 * turns, hosts with folders of their own have watchdogs of their own. The fencing number stands in every commit.
 *
 * A bridge takes the lease from a standby that lives, at its start or when it hears again: so its own watchdog acts while it
 * lives, and `bridge.log` has every step. What the standby still wants to store is refused.
 */
import { ensureLogsFolderId } from '../../src/files/logsFolder.js';
import { KeptLease, type KeptLeaseOptions, type LeaseWords } from '../../src/redis/keptLease.js';
import type { ActingLease } from '../lateness/watchdogGaps.js';

const WORDS: LeaseWords = {
  standsBy: 'another watchdog acts for this logs folder; this one stands by',
  begins: 'this watchdog acts now',
  ends: 'another watchdog acts; this one observes',
  fenced: 'another watchdog acts for this logs folder now',
};

/** The times in which this process was away. */
export interface GapsOfHolder {
  /** @returns the end of the last one, epoch milliseconds; minus infinity without one */
  lastEnd(run: null): number;
  /** Each further one puts the lease in doubt. */
  concern(lease: ActingLease): void;
}

export interface WatchdogLeaseOptions
  extends Pick<KeptLeaseOptions, 'leases' | 'clock' | 'logger' | 'leaseMs' | 'here' | 'logsFolder'> {
  /** Whether it stands by for a bridge, and gives way to it. */
  readonly standsBy: boolean;
  readonly gaps: GapsOfHolder;
  /** Called when this process begins to act. */
  readonly onActing: () => void;
}

export class WatchdogLease extends KeptLease {
  #logsId: string | null = null;

  constructor({ gaps, standsBy, ...options }: WatchdogLeaseOptions) {
    const { logsFolder, clock, leaseMs } = options;
    super({
      ...options,
      name: 'watchdog lease',
      words: WORDS,
      leaseName: async () => {
        this.#logsId = await ensureLogsFolderId(logsFolder, clock);
        return watchdogLeaseName(this.#logsId);
      },
      marks: { stands_by: standsBy },
      yields: (owner) => givesWay(owner, standsBy),
      // Where this process was away, the holder may have been as well: it has a lease of time to come back.
      spareUntil: () => gaps.lastEnd(null) + leaseMs,
    });
    gaps.concern(this);
  }

  /** The id of the folder that it is about; null before the start. */
  get logsId(): string | null {
    return this.#logsId;
  }
}

/** Whether the holder gives way: one of another logs folder (`actedFolders.ts`) to both, a standby to a bridge. */
function givesWay(owner: string, toStandby: boolean): boolean {
  try {
    const { stands_in, stands_by } = JSON.parse(owner) as { stands_in?: boolean; stands_by?: boolean };
    return stands_in === true || (stands_by === true && !toStandby);
  } catch {
    return false;
  }
}

/** @returns the name of the lease of whoever acts for a logs folder */
export function watchdogLeaseName(logsId: string): string {
  return `watchdog:${logsId}`;
}
