import { describeDuration, isoTime, MINUTE } from '../../src/time.js';
import { considerWait, isHumanWait } from '../waits.js';
import type { Detector, Judgement, Subject } from './detector.js';

/** Work has been owed for more than `runaway_ms` since a person last spoke. (Judgement rules, 16.) */
export const runaway: Detector = { rule: 'runaway', judge };

function judge(subject: Subject): Judgement {
  const { owed, now } = subject;
  const limit = subject.thresholds.runaway_ms;
  const excess = owed.ms - limit;
  if (excess <= 0) return { finding: null, deadline: owed.running ? now - excess + 1 : null };
  const humanWaits = subject.silence.waits.filter((wait) => isHumanWait(wait.kind));
  return {
    finding: {
      rule: 'runaway',
      reason: `running_for_${Math.floor(owed.ms / MINUTE)}_minutes`,
      since: isoTime(now - excess + 1),
      evidence: [
        `work has been owed for ${describeDuration(owed.ms)} since ${isoTime(owed.since)}, and ${describeDuration(limit)} may pass`,
        'waits for people and host sleep are not counted',
      ],
      waits_considered: humanWaits.map((wait) => ({
        ...considerWait(wait, now, false),
        excuses: false,
        why: 'its time is not counted, the time before it is enough',
      })),
    },
    deadline: null,
  };
}
