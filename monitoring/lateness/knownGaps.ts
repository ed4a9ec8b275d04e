/** Which gaps excuse which runs. */
import type { WatchdogGap } from '../../src/jobs/findings.js';
import type { Run } from '../../src/jobs/model.js';
import type { Clock } from '../../src/time.js';

/** The checks of a judge before it trusts a clock. */
export abstract class KnownGaps {
  /** Checks the clocks first: a process that was away knows it before it judges. @returns UTC epoch milliseconds */
  abstract now(): number;

  /** @returns the gaps after which every clock of the run restarts; if null, those that concern no particular run */
  abstract of(run: Run | null): readonly WatchdogGap[];

  /** Reads the gaps that other processes have recorded since the last call. */
  abstract refresh(): Promise<void>;

  /** @returns the end of the last of them, epoch milliseconds; minus infinity if there is none */
  lastEnd(run: Run | null): number {
    const now = this.now();
    const ends = this.of(run).map(({ until }) => until);
    return Math.max(...ends.filter((until) => until <= now));
  }
}

/** Gaps that others have recorded; this process knows of no absence of its own. */
export class RecordedGaps extends KnownGaps {
  readonly #clock: Clock;
  readonly #gaps: readonly WatchdogGap[];

  constructor(clock: Clock, gaps: readonly WatchdogGap[] = []) {
    super();
    this.#clock = clock;
    this.#gaps = gaps;
  }

  now(): number {
    return this.#clock.now();
  }

  of(run: Run | null): readonly WatchdogGap[] {
    return this.#gaps.filter((gap) => excuses(gap, run));
  }

  async refresh(): Promise<void> {}
}

/**
 * The acting watchdog's absence excuses every run, because none was watched. A gap of a whole host excuses that host's runs. A
 * bridge that was stopped could not write a journal, which excuses the runs that it owns. A watchdog that only observes excuses
 * nothing: it may come and go as it likes.
 */
export function excuses(gap: WatchdogGap, run: Run | null): boolean {
  if (gap.acted || run === null) return gap.acted;
  const { by, cause } = gap;
  if (run.owner.host !== by.host) return false;
  const isOfHost = cause === 'host_slept' || cause === 'clock_jumped';
  const isOwner =
    run.owner.pid === by.pid && run.owner.pid_start === by.pid_start && run.owner.pid_namespace === by.pid_namespace;
  return isOfHost || isOwner;
}
