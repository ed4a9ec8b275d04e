import { clockTime, describeDuration, isoTime } from '../../../src/time.js';
import { considerWait, waitsOf } from '../clocks/waits.js';
import { isHumanWait } from '../timeline/openWaits.js';
import type { CountedSubject, Detector, Judgement } from './detector.js';
import { lastingReason } from './reasons.js';

/** Work has been owed for more than `runaway_ms` since a person last spoke. (Judgement rules, 16.) */
export const runaway: Detector<CountedSubject> = { rule: 'runaway', judge };

function judge(subject: CountedSubject): Judgement {
  const { owed, now } = subject;
  // A sub-agent that outlives the turn is judged by its silence only: healthy ones take long.
  if (subject.run.turnSince === null) return null;
  const limit = subject.thresholds.runaway_ms;
  const excess = owed.ms - limit;
  if (excess <= 0) return owed.running ? now - excess + 1 : null;
  const waits = subject.run.agents
    .filter((agent) => agent.waits.some(({ kind }) => isHumanWait(kind)))
    .flatMap((agent) => waitsOf(agent, { ...subject, notBefore: owed.since }));
  return {
    rule: 'runaway',
    reason: lastingReason('running', owed.ms),
    since: isoTime(now - excess + 1),
    evidence: [
      `the agent has been working for ${describeDuration(owed.ms)} since ${clockTime(owed.since)} without finishing (limit ${describeDuration(limit)})`,
      'waiting for people and sleep of the machine are not counted',
    ],
    waits_considered: waits
      .filter(({ kind }) => isHumanWait(kind))
      .map((wait) => ({
        ...considerWait(wait, now, false),
        excuses: false,
        why: 'its time is not counted, but the time before it is enough',
      })),
    clock: { agent: null, unit: 'ms', value: owed.ms, limit, counted_from: isoTime(owed.since) },
  };
}
