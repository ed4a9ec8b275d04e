/**
 * Was this process away? Judged by four counters, because each alone misleads:
 *
 * |                          | wall | monotonic | since boot | processor | timer         |
 * |--------------------------|------|-----------|------------|-----------|---------------|
 * | the host slept           | on   | stopped   | on         | stopped   | on time       |
 * | stopped, starved         | on   | on        | on         | stopped   | late          |
 * | the event loop blocked   | on   | on        | on         | on        | late          |
 * | the wall clock was set   | jump | on        | on         | on        | on time       |
 *
 * (If the monotonic clock counts sleep, a sleep looks like a stop; the consequences are the same.) Setting the clock is not
 * lateness, but times written before it cannot be compared with times read after it.
 */
import type { Thresholds } from '../../src/config/rules.js';
import type { HostCounters } from '../../src/host/counters.js';
import type { GapCause, WatchdogGap } from '../../src/jobs/findings.js';

import { type Clock, describeDuration, isoTime, SECOND } from '../../src/time.js';
import { noticeEvent } from '../events/notice.js';

/** All in milliseconds, each from its own start. */
export interface Readings {
  readonly wallMs: number;
  readonly monotonicMs: number;
  /** Null if the system does not count it. */
  readonly sinceBootMs: number | null;
  readonly processorMs: number;
}

export function takeReadings(clock: Clock, counters: HostCounters): Readings {
  return {
    wallMs: clock.now(),
    monotonicMs: clock.monotonic(),
    sinceBootMs: counters.sinceBootMs(),
    processorMs: counters.processorMs(),
  };
}

export interface Standstill {
  readonly cause: GapCause;
  /** UTC epoch milliseconds by the wall clock as it is now; never earlier than is certain. */
  readonly from: number;
  readonly until: number;
  /** Positive if the wall clock was set forward; milliseconds. */
  readonly setMs: number;
  /** How far each counter went, in milliseconds: the basis of the verdict. */
  readonly elapsed: Readings;
  readonly lateMs: number;
}

export interface LatenessLimits {
  /** Between two beats of the pulse. */
  readonly beatMs: number;
  /** Lateness up to this excuses nothing. */
  readonly boundMs: number;
}

const LONGEST_BOUND_MS = 30 * SECOND;
const SHORTEST_BOUND_MS = 2 * SECOND;
const CLOCK_SHARE = 20;
const BEATS_PER_BOUND = 6;

/** The clocks that can accuse by their length alone; milliseconds. */
export interface AccusingSpans {
  /** Every project's. */
  readonly thresholds: Iterable<Thresholds>;
  readonly backlogMs: number;
  readonly runLeaseMs: number;
}

/**
 * The bound is a twentieth of the shortest clock that accuses, at most 30 s: a shorter standstill shifts a verdict by less than
 * anyone would tune a threshold. It is at least 2 s, because a busy host delays timers by that much. But it is never more than
 * half of that clock or than a run's lease, so that every standstill long enough to accuse by itself is recognised.
 */
export function latenessLimits({ thresholds, backlogMs, runLeaseMs }: AccusingSpans): LatenessLimits {
  let clockMs = backlogMs;
  for (const { silence_ms, runaway_ms, tool_wait_ms } of thresholds) {
    clockMs = Math.min(clockMs, silence_ms, runaway_ms, tool_wait_ms);
  }
  const wantedMs = Math.max(clockMs / CLOCK_SHARE, SHORTEST_BOUND_MS);
  const boundMs = Math.max(1, Math.min(LONGEST_BOUND_MS, wantedMs, clockMs / 2, runLeaseMs));
  return { boundMs, beatMs: boundMs / BEATS_PER_BOUND };
}

/** @param before at the last beat; the next was due `beatMs` later @returns null if nothing was late beyond the bound */
export function recogniseStandstill(before: Readings, after: Readings, limits: LatenessLimits): Standstill | null {
  const elapsed = elapsedBetween(before, after);
  const hostMs = elapsed.sinceBootMs ?? elapsed.monotonicMs;
  const lateMs = Math.max(0, elapsed.monotonicMs - limits.beatMs);
  const sleptMs = Math.max(0, hostMs - elapsed.monotonicMs);
  const setMs = elapsed.wallMs - hostMs;
  const stoodMs = lateMs + sleptMs;
  if (stoodMs <= limits.boundMs && Math.abs(setMs) <= limits.boundMs) return null;
  const cause = stoodMs > limits.boundMs ? causeOf(lateMs, sleptMs, elapsed.processorMs) : 'clock_jumped';
  const until = after.wallMs;
  return { cause, from: until - stoodMs - Math.max(0, setMs), until, setMs, elapsed, lateMs };
}

function causeOf(lateMs: number, sleptMs: number, processorMs: number): GapCause {
  if (sleptMs > lateMs) return 'host_slept';
  return processorMs >= lateMs / 2 ? 'loop_blocked' : 'process_stood';
}

function elapsedBetween(before: Readings, after: Readings): Readings {
  const isBootKnown = before.sinceBootMs !== null && after.sinceBootMs !== null;
  return {
    wallMs: after.wallMs - before.wallMs,
    monotonicMs: after.monotonicMs - before.monotonicMs,
    sinceBootMs: isBootKnown ? (after.sinceBootMs ?? 0) - (before.sinceBootMs ?? 0) : null,
    processorMs: after.processorMs - before.processorMs,
  };
}

/** @returns the event for the gap, flat, so that readers show every detail; and the gap as a sentence for operators */
export function gapReport(gap: WatchdogGap, { elapsed, lateMs, setMs }: Standstill) {
  const details = {
    cause: gap.cause,
    gap_ms: Math.round(gap.until - gap.from),
    from: isoTime(gap.from),
    until: isoTime(gap.until),
    pid: gap.by.pid,
    host: gap.by.host,
    acted: gap.acted,
    timer_late_ms: Math.round(lateMs),
    clock_set_ms: Math.round(setMs),
    wall_ms: Math.round(elapsed.wallMs),
    monotonic_ms: Math.round(elapsed.monotonicMs),
    since_boot_ms: elapsed.sinceBootMs === null ? null : Math.round(elapsed.sinceBootMs),
    processor_ms: Math.round(elapsed.processorMs),
  };
  const [incident_id, reason] = [gap.gap_id, reasonOf(gap, setMs)];
  const notice = { incident_id, step: 'detected', final: true, event: 'watchdog_gap', reason, details } as const;
  return { event: noticeEvent(notice, gap.until), sentence: describeGap(gap, setMs) };
}

function describeGap(gap: WatchdogGap, setMs: number): string {
  const after = `every clock starts again at ${isoTime(gap.until)}`;
  const length = describeDuration(gap.until - gap.from);
  switch (gap.cause) {
    case 'host_slept':
      return `the host slept for ${length}: nobody is accused for it, and ${after}`;
    case 'process_stood':
      return `this process was stopped or starved for ${length}: nobody is accused for it, and ${after}`;
    case 'loop_blocked':
      return `this process was too busy for ${length} to watch: nobody is accused for it, and ${after}`;
    case 'clock_jumped':
      return `the wall clock was set ${setMs > 0 ? 'forward' : 'back'} by ${describeDuration(Math.abs(setMs))}: ${after}`;
    default:
      return gap.cause satisfies never;
  }
}

function reasonOf({ cause, from, until }: WatchdogGap, setMs: number): string {
  if (cause !== 'clock_jumped') return `late_by_${Math.round((until - from) / SECOND)}_s`;
  return `clock_set_${setMs > 0 ? 'forward' : 'back'}_by_${Math.round(Math.abs(setMs) / SECOND)}_s`;
}
