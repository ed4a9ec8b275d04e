/** A gap in words and as a critical event. */
import type { WatchdogGap } from '../../src/jobs/findings.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { describeDuration, isoTime, SECOND } from '../../src/time.js';
import { noticeEvent } from '../events/notice.js';
import type { Standstill } from './standstill.js';

/** @returns the event for the gap; flat, so that readers show every detail */
export function gapEvent(gap: WatchdogGap, { elapsed, lateMs, setMs }: Standstill): CriticalEvent {
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
  return noticeEvent(notice, gap.until);
}

/** @returns the gap as a sentence for operators */
export function describeGap(gap: WatchdogGap, { setMs }: Standstill): string {
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
