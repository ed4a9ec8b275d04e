import type { Finding } from '../../src/model.js';
import { describeDuration, isoTime, MINUTE } from '../../src/time.js';
import { clockTime, considerWait } from '../waits.js';
import type { Detector, Judgement, Subject } from './detector.js';

/** Nothing was heard for longer than `silence_ms` while work was owed and no wait excused it. (Judgement rules, 5-10.) */
export const silence: Detector = { rule: 'silence', judge };

function judge(subject: Subject): Judgement {
  const { silence: clock, now } = subject;
  if (clock.silentFrom > now) {
    return { finding: null, deadline: Number.isFinite(clock.silentFrom) ? clock.silentFrom : null };
  }
  const waits = clock.waits.map((wait) => considerWait(wait, now, true));
  const limit = subject.thresholds.silence_ms;
  const last = `no activity since ${clockTime(subject.silence.countedFrom)}`;
  return {
    finding: { ...silenceFinding(clock.clockMs, clock.silentFrom, limit, last), waits_considered: waits },
    deadline: null,
  };
}

/**
 * @param clockMs what the clock shows
 * @param since when the rule became true, UTC epoch milliseconds
 * @param limitMs how long a silence may be
 * @param source where the reading comes from, as a clause
 */
export function silenceFinding(clockMs: number, since: number, limitMs: number, source: string): Finding {
  return {
    rule: 'silence',
    reason: `silent_for_${Math.floor(clockMs / MINUTE)}_minutes`,
    since: isoTime(since),
    evidence: [source, `silent for ${describeDuration(clockMs)}, and ${describeDuration(limitMs)} may pass`],
    waits_considered: [],
  };
}
