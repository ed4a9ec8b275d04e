/**
 * Which watchdog acts. There is one lease per logs folder, named by the id in a file there: processes that share the folder
 * take turns, and hosts with folders of their own have watchdogs of their own. Every commit carries the fencing number.
 *
 * A bridge takes the lease from a living standby, at its start or once it can hear again. So a bridge's own watchdog acts while
 * the bridge lives, and `bridge.log` has every step. Anything that the standby still tries to store is refused.
 */
import { ensureLogsFolderId } from '../../src/files/logsFolder.js';
import { parseObject } from '../../src/json.js';
import { KeptLease, type KeptLeaseOptions, type LeaseWords } from '../../src/redis/keptLease.js';
import type { ActingLease } from '../lateness/watchdogGaps.js';

const WORDS: LeaseWords = {
  standsBy: 'another watchdog acts for this logs folder; this one is on standby',
  begins: 'this watchdog acts now',
  ends: 'another watchdog acts; this one observes',
  fenced: 'another watchdog acts for this logs folder now',
};

/** The times when this process was away. */
export interface GapsOfHolder {
  /** @returns the end of the last one, epoch milliseconds; minus infinity if there was none */
  lastEnd(run: null): number;
  /** Each further gap puts the lease in doubt. */
  concern(lease: ActingLease): void;
}

export interface WatchdogLeaseOptions
  extends Pick<KeptLeaseOptions, 'leases' | 'clock' | 'logger' | 'leaseMs' | 'here' | 'logsFolder'> {
  /** Whether this is a standby, which gives way to a bridge. */
  readonly standsBy: boolean;
  readonly gaps: GapsOfHolder;
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
      // If this process was away, the holder may have been too: it gets one lease duration to come back.
      spareUntil: () => gaps.lastEnd(null) + leaseMs,
    });
    gaps.concern(this);
  }

  /** The id of this lease's folder; null before the start. */
  get logsId(): string | null {
    return this.#logsId;
  }
}

/** Whether the holder gives way: the holder from another logs folder (`actedFolders.ts`) to both, a standby to a bridge. */
function givesWay(owner: string, toStandby: boolean): boolean {
  const marks = parseObject<{ stands_in: boolean; stands_by: boolean }>(owner);
  return marks?.stands_in === true || (marks?.stands_by === true && !toStandby);
}

export function watchdogLeaseName(logsId: string): string {
  return `watchdog:${logsId}`;
}
