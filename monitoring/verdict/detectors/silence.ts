import type { Finding } from '../../../src/jobs/findings.js';
import { clockTime, describeDuration, isoTime } from '../../../src/time.js';
import { considerAll, owingSubAgents } from '../clocks/agentClocks.js';
import { agentInRecord, agentWords } from '../clocks/plainName.js';
import type { SilenceReading } from '../clocks/silenceClock.js';
import { MAIN_AGENT } from '../timeline/entry.js';
import type { Detector, Judgement, Subject } from './detector.js';
import { lastingReason } from './reasons.js';

/** There was no activity for longer than `silence_ms` while work was owed and no wait excused it. (Judgement rules, 5-10.) */
export const silence: Detector = { rule: 'silence', judge };

function judge(subject: Subject): Judgement {
  const { clocks, now } = subject;
  const { agent, reading } = firstSilent(subject);
  const at = reading.silentFrom;
  if (at > now) return Number.isFinite(at) ? at : null;
  const finding = silenceFinding(reading, subject.thresholds.silence_ms, agent);
  return { ...finding, waits_considered: considerAll(reading, clocks, now) };
}

interface Silent {
  readonly agent: string;
  readonly reading: SilenceReading;
}

/** @returns the agent that is silent first without further activity, with its clock; the main one if it is silent already */
export function firstSilent({ run, clocks, now }: Subject): Silent {
  const main = clocks.get(MAIN_AGENT);
  let first: Silent | null = main === undefined ? null : { agent: MAIN_AGENT, reading: main };
  if (first !== null && first.reading.silentFrom <= now) return first;
  for (const { id } of owingSubAgents(run)) {
    const reading = clocks.get(id);
    if (reading === undefined) continue;
    if (first === null || reading.silentFrom < first.reading.silentFrom) first = { agent: id, reading };
  }
  if (first === null) throw new Error('whatever is judged has an agent that owes work');
  return first;
}

export function silenceFinding(
  reading: Omit<SilenceReading, 'waits'>,
  limitMs: number,
  agent: string = MAIN_AGENT,
): Finding {
  const { clockMs, countedFrom, silentFrom } = reading;
  const limit = describeDuration(limitMs);
  return {
    rule: 'silence',
    reason: lastingReason('silent', clockMs),
    since: isoTime(silentFrom),
    evidence: [
      `no activity of ${agentWords(agent)} for ${describeDuration(clockMs)} since ${clockTime(countedFrom)} (limit ${limit})`,
    ],
    waits_considered: [],
    clock: {
      agent: agentInRecord(agent),
      unit: 'ms',
      value: clockMs,
      limit: limitMs,
      counted_from: isoTime(countedFrom),
    },
  };
}
