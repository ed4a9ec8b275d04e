/** Which gaps excuse whom. */
import type { WatchdogGap } from '../../src/jobs/findings.js';
import type { Run } from '../../src/jobs/model.js';
import type { Clock } from '../../src/time.js';

/** What a judge has to ask before it trusts a clock. */
export interface KnownGaps {
  /**
   * Looks at the clocks first, so that a process that was away knows of it before it judges anything.
   * @returns the wall clock, UTC epoch milliseconds
   */
  now(): number;
  /** @returns the gaps after which every clock of the run starts again; of no run in particular where it is null */
  of(run: Run | null): readonly WatchdogGap[];
  /** @returns the end of the last of them, epoch milliseconds; minus infinity where there is none */
  lastEnd(run: Run | null): number;
  /** Learns what other processes have recorded meanwhile. */
  refresh(): Promise<void>;
}

/**
 * The acting watchdog's absence excuses everybody, for nobody watched. So does what befell a whole host, for its own runs. A
 * bridge that stood could write no journal: that excuses the runs that it owns. But a watchdog that only observes may come
 * and go as it likes.
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

/** Gaps that others have recorded; this process knows of no absence of its own. */
export class RecordedGaps implements KnownGaps {
  readonly #clock: Clock;
  readonly #gaps: readonly WatchdogGap[];

  constructor(clock: Clock, gaps: readonly WatchdogGap[] = []) {
    this.#clock = clock;
    this.#gaps = gaps;
  }

  now(): number {
    return this.#clock.now();
  }

  of(run: Run | null): readonly WatchdogGap[] {
    return this.#gaps.filter((gap) => excuses(gap, run));
  }

  lastEnd(run: Run | null): number {
    return lastEndOf(this.of(run), this.#clock.now());
  }

  async refresh(): Promise<void> {}
}

/** @returns the end of the last gap that is over at `now` */
export function lastEndOf(gaps: readonly WatchdogGap[], now: number): number {
  let last = Number.NEGATIVE_INFINITY;
  for (const { until } of gaps) if (until <= now) last = Math.max(last, until);
  return last;
}
