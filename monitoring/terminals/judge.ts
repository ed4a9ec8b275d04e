/** Judges the agent of a session by the rules of the watchdog, for a caller that looks once. */
import type { Judged } from '../../memory/condition/stuck.js';
import type { Judge } from '../../memory/look/look.js';
import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import type { Finding } from '../../src/jobs/findings.js';
import { describeFinding } from '../verdict/describe.js';
import { silenceFinding } from '../verdict/detectors/silence.js';
import { type LookOptions, mayWork, type Sight, TerminalSession } from './terminalSession.js';

/** By the usual thresholds. */
export const judge: Judge = async (memory, id, now) => {
  const sight = await new TerminalSession(memory, id).look({ now, thresholds: DEFAULT_THRESHOLDS, gaps: [] });
  return sight === null ? null : judgedOf(sight);
};

export function judgedOf({ assessment, findings, hasFound, lastActivity, leastActivity }: Sight): Judged {
  const broken = findings.map((found) => ({ rule: found.rule, since: found.since, sentence: describeFinding(found) }));
  return { doing: assessment?.attention ?? null, broken, hasFound, lastActivity, leastActivity };
}

/**
 * A session without a transcript does not show when work is owed, so work counts as owed from its start to its end. The lines of its
 * worklog are its activity; changes in its directory are among them.
 * @returns what was seen, judged; as it is if it can be judged by a transcript, or owes nothing
 */
export function judgeQuietly(sight: Sight, { now, thresholds, gaps }: LookOptions): Sight {
  const { assessment, lastActivity } = sight;
  const { isWaiting, ping } = sight.log.recorded;
  if (assessment !== null || !mayWork(sight) || lastActivity === null || isWaiting) return sight;
  const countedFrom = Math.max(lastActivity, ...gaps.map(({ until }) => until).filter((until) => until <= now));
  const silentFrom = countedFrom + thresholds.silence_ms + 1;
  if (silentFrom > now) return { ...sight, nextLook: silentFrom };
  const pingUntil = ping?.until ?? now;
  if (pingUntil > now) return { ...sight, nextLook: pingUntil + 1 };
  const clockMs = now - countedFrom;
  const finding: Finding = silenceFinding({ clockMs, countedFrom, silentFrom }, thresholds.silence_ms);
  return { ...sight, findings: [finding] };
}
