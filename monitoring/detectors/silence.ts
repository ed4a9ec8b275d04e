import type { Finding } from '../../src/findings.js';
import { clockTime, describeDuration, isoTime, MINUTE } from '../../src/time.js';
import { considerAll } from '../agentClocks.js';
import type { SilenceReading } from '../silenceClock.js';
import type { Detector, Judgement, Subject } from './detector.js';

/** Nothing was heard for longer than `silence_ms` while work was owed and no wait excused it. (Judgement rules, 5-10.) */
export const silence: Detector = { rule: 'silence', judge };

function judge(subject: Subject): Judgement {
  const { silence: clock, clocks, now } = subject;
  if (clock.silentFrom > now) {
    return { finding: null, deadline: Number.isFinite(clock.silentFrom) ? clock.silentFrom : null };
  }
  const finding = silenceFinding(clock, subject.thresholds.silence_ms);
  return { finding: { ...finding, waits_considered: considerAll(clock, clocks, now) }, deadline: null };
}

/**
 * @param reading what the clock shows
 * @param limitMs how long a silence may be
 */
export function silenceFinding(reading: Omit<SilenceReading, 'waits'>, limitMs: number): Finding {
  const { clockMs, countedFrom, silentFrom } = reading;
  const limit = describeDuration(limitMs);
  return {
    rule: 'silence',
    reason: `silent_for_${Math.floor(clockMs / MINUTE)}_minutes`,
    since: isoTime(silentFrom),
    evidence: [
      `nothing was heard of the agent since ${clockTime(countedFrom)}: for ${describeDuration(clockMs)}, and ${limit} may pass`,
    ],
    waits_considered: [],
    clock: { agent: null, unit: 'ms', value: clockMs, limit: limitMs, counted_from: isoTime(countedFrom) },
  };
}
