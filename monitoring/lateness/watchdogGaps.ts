/**
 * The watchdog's own pulse. A beat that comes late, or a look that finds one overdue, is a gap. Every clock that it concerns
 * restarts at that instant: in this process at once, in others as soon as they read it in the store. Each gap is logged as one
 * event.
 *
 * A process that starts has no previous beat, so a restart excuses nothing.
 */

import { describeError } from '../../src/errors.js';
import { ensureLogsFolderId } from '../../src/files/logsFolder.js';
import type { HostCounters } from '../../src/host/counters.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { ulid } from '../../src/ids.js';
import type { WatchdogGap } from '../../src/jobs/findings.js';
import type { Gaps } from '../../src/jobs/gaps.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import type { Run } from '../../src/jobs/model.js';
import type { Logger } from '../../src/log/logger.js';
import { SaidOnce } from '../../src/log/saidOnce.js';
import type { Service } from '../../src/service.js';
import { atMost, type Clock, SECOND, type Timer } from '../../src/time.js';
import type { EventLog } from '../events/notice.js';
import { excuses, KnownGaps } from './knownGaps.js';
import {
  gapReport,
  type LatenessLimits,
  type Readings,
  recogniseStandstill,
  type Standstill,
  takeReadings,
} from './standstill.js';

/** Own gaps that are remembered; as many as the store keeps. */
const MOST_REMEMBERED = 50;
/** How long an orderly stop waits for a gap that is not recorded yet. */
const LEAVING_MS = SECOND;

export interface WatchdogGapsOptions {
  readonly clock: Clock;
  readonly counters: HostCounters;
  readonly logger: Logger;
  readonly events: EventLog;
  readonly store: Gaps;
  readonly logsFolder: string;
  readonly here: ProcessIdentity;
  readonly limits: LatenessLimits;
  /** Called at once when a gap was recognised; must not throw. */
  onGap(): void;
}

export interface ActingLease {
  readonly isActing: boolean;
  /** Nothing is done under it until it has been renewed. */
  doubt(): void;
}

interface Unrecorded {
  readonly gap: WatchdogGap;
  readonly event: CriticalEvent;
}

export class WatchdogGaps extends KnownGaps implements Service {
  readonly name = 'pulse of the watchdog';
  readonly #options: WatchdogGapsOptions;
  readonly #troubles: SaidOnce;
  #own: WatchdogGap[] = [];
  #recorded: readonly WatchdogGap[] = [];
  #unrecorded: Unrecorded[] = [];
  #recording: Promise<void> | null = null;
  #lastBeat: Readings | null = null;
  /** As it was when nothing was late: after a gap the lease has expired. */
  #acted = false;
  #lease: ActingLease | null = null;
  #timer: Timer | null = null;
  #logsId = '';

  constructor(options: WatchdogGapsOptions) {
    super();
    this.#options = options;
    this.#troubles = new SaidOnce(options.logger);
  }

  /** From now on a gap first puts this lease in doubt, and records whether this process acted under it. */
  concern(lease: ActingLease): void {
    this.#lease = lease;
  }

  async start(): Promise<void> {
    if (this.#timer !== null) return;
    const { logsFolder, clock } = this.#options;
    this.#logsId = await ensureLogsFolderId(logsFolder, clock);
    this.#beat();
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#lastBeat = null;
    if (this.#recording === null) return;
    await atMost(this.#options.clock, LEAVING_MS, this.#recording, undefined);
  }

  now(): number {
    const { clock, limits } = this.#options;
    const now = clock.now();
    const last = this.#lastBeat;
    if (last === null) return now;
    // Cheap, because it runs before each verdict: the other counters are read only if one of the two clocks is off.
    const monotonicMs = clock.monotonic() - last.monotonicMs;
    const apartMs = Math.abs(now - last.wallMs - monotonicMs);
    const isCalm = monotonicMs <= limits.beatMs + limits.boundMs && apartMs <= limits.boundMs;
    if (!isCalm) return this.#look().wallMs;
    this.#acted = this.#isActing();
    return now;
  }

  of(run: Run | null): readonly WatchdogGap[] {
    const others = this.#recorded.filter((gap) => excuses(gap, run));
    return [...this.#own, ...others];
  }

  async refresh(): Promise<void> {
    if (this.#logsId === '') return;
    const known = new Set(this.#own.map(({ gap_id }) => gap_id));
    const found = await this.#options.store.of(this.#logsId);
    this.#recorded = found.filter(({ gap_id }) => !known.has(gap_id));
  }

  #isActing(): boolean {
    return this.#lease?.isActing ?? false;
  }

  #beat(): void {
    this.#lastBeat = this.#look();
    this.#acted = this.#isActing();
    this.#timer = this.#options.clock.after(this.#options.limits.beatMs, () => this.#beat());
    if (this.#unrecorded.length > 0) this.#record();
  }

  /** After a gap the pulse starts afresh, so that the late beat is not found a second time. */
  #look(): Readings {
    const readings = this.#read();
    const last = this.#lastBeat;
    const standstill = last === null ? null : recogniseStandstill(last, readings, this.#options.limits);
    if (standstill === null) return readings;
    this.#lastBeat = readings;
    this.#remember(standstill);
    return readings;
  }

  #read(): Readings {
    return takeReadings(this.#options.clock, this.#options.counters);
  }

  #remember(standstill: Standstill): void {
    const { clock, here, logger, onGap } = this.#options;
    const { from, until, cause } = standstill;
    const gap: WatchdogGap = { gap_id: ulid(clock), from, until, cause, by: here, acted: this.#acted };
    this.#own = [...this.#own, gap].slice(-MOST_REMEMBERED);
    const { event, sentence } = gapReport(gap, standstill);
    this.#unrecorded.push({ gap, event });
    logger.warn({ gap }, sentence);
    this.#lease?.doubt();
    onGap();
    this.#record();
  }

  #record(): void {
    this.#recording ??= this.#recordAll().finally(() => {
      this.#recording = null;
    });
  }

  /** A gap that cannot be recorded now is retried at the next beat; until then only this process knows it. */
  async #recordAll(): Promise<void> {
    const { events, store } = this.#options;
    for (let next = this.#unrecorded[0]; next !== undefined; next = this.#unrecorded[0]) {
      try {
        await events.logCriticalEvent(next.event);
        await store.add(this.#logsId, next.gap);
      } catch (error) {
        this.#troubles.error('record', `a gap of the watchdog could not be recorded yet: ${describeError(error)}`);
        return;
      }
      this.#unrecorded.shift();
      this.#troubles.forget('record');
    }
  }
}
