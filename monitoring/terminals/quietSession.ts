/**
 * A session without a transcript, such as one that an unknown agent or a person tracks by hand. It does not show when work is
 * owed, so work counts as owed from the session's start to its end. The lines of its worklog are its activity; changes in its
 * directory are among them.
 */
import type { Finding } from '../../src/jobs/findings.js';
import { silenceFinding } from '../verdict/detectors/silence.js';
import { type LookOptions, mayWork, type Sight } from './terminalSession.js';

/** @returns what was seen, judged; as it is if it can be judged by a transcript, or owes nothing */
export function judgeQuietly(sight: Sight, { now, thresholds, gaps }: LookOptions): Sight {
  const { assessment, lastActivity, wait } = sight;
  const { isWaiting, ping } = sight.log.recorded;
  if (assessment !== null || !mayWork(sight) || lastActivity === null || isWaiting || wait !== null) return sight;
  const countedFrom = Math.max(lastActivity, ...gaps.map(({ until }) => until).filter((until) => until <= now));
  const silentFrom = countedFrom + thresholds.silence_ms + 1;
  if (silentFrom > now) return { ...sight, nextLook: silentFrom };
  const pingUntil = ping?.until ?? now;
  if (pingUntil > now) return { ...sight, nextLook: pingUntil + 1 };
  const clockMs = now - countedFrom;
  const finding: Finding = silenceFinding({ clockMs, countedFrom, silentFrom }, thresholds.silence_ms);
  return { ...sight, findings: [finding] };
}
