/** The absences that a process knows of itself, without a store: for a watcher that works alone. */
import type { HostCounters } from '../../src/host/counters.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { ulid } from '../../src/ids.js';
import type { WatchdogGap } from '../../src/jobs/findings.js';
import type { Clock } from '../../src/time.js';
import { KnownGaps } from './knownGaps.js';
import { type Readings, recogniseStandstill, takeReadings } from './standstill.js';

/** The last ones; older ones excuse nothing that the last does not. */
const MOST_REMEMBERED = 50;

export interface OwnGapsOptions {
  readonly clock: Clock;
  readonly counters: HostCounters;
  readonly here: ProcessIdentity;
  /** Lateness up to this excuses nothing, in milliseconds. */
  readonly boundMs: number;
}

export class OwnGaps extends KnownGaps {
  readonly #options: OwnGapsOptions;
  #gaps: WatchdogGap[] = [];
  #last: { readonly readings: Readings; readonly sleepMs: number } | null = null;

  constructor(options: OwnGapsOptions) {
    super();
    this.#options = options;
  }

  /** This process goes to sleep: it should be back after this time, in milliseconds. */
  sleeps(sleepMs: number): void {
    this.#last = { readings: this.#read(), sleepMs };
  }

  now(): number {
    const readings = this.#read();
    if (this.#last === null) return readings.wallMs;
    const { boundMs, clock, here } = this.#options;
    const found = recogniseStandstill(this.#last.readings, readings, { beatMs: this.#last.sleepMs, boundMs });
    if (found === null) return readings.wallMs;
    const { from, until, cause } = found;
    this.#gaps = [...this.#gaps, { gap_id: ulid(clock), from, until, cause, by: here, acted: true }].slice(
      -MOST_REMEMBERED,
    );
    this.#last = null;
    return readings.wallMs;
  }

  of(): readonly WatchdogGap[] {
    return this.#gaps;
  }

  async refresh(): Promise<void> {}

  #read(): Readings {
    return takeReadings(this.#options.clock, this.#options.counters);
  }
}
