/** Judges the agent of a session by the rules of the watchdog, for a caller that looks once. */
import type { Judged, Quiet } from '../../memory/condition/stuck.js';
import type { Judge } from '../../memory/look/look.js';
import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import { describeFinding } from '../verdict/describe.js';
import { thresholdsOf, USUAL_LIMITS } from './monitorLimits.js';
import { judgeQuietly } from './quietSession.js';
import { type Sight, TerminalSession } from './terminalSession.js';

/** By the usual thresholds. */
export const judge: Judge = async (memory, id, now) => {
  const sight = await new TerminalSession(memory, id).look({ now, thresholds: DEFAULT_THRESHOLDS, gaps: [] });
  return sight === null ? null : { ...judgedOf(sight), quiet: quietOf(sight, now) };
};

/** By the limits of a monitor that is not told any. */
function quietOf(sight: Sight, now: number): Quiet | null {
  const thresholds = thresholdsOf(USUAL_LIMITS);
  const { assessment, lastActivity, findings } = judgeQuietly(sight, { now, thresholds, gaps: [] });
  if (assessment !== null || lastActivity === null || findings.length === 0) return null;
  return { since: lastActivity, limitMs: thresholds.silence_ms };
}

export function judgedOf({ assessment, findings, hasFound, lastActivity, leastActivity }: Sight): Judged {
  const broken = findings.map((found) => ({ rule: found.rule, since: found.since, sentence: describeFinding(found) }));
  return { doing: assessment?.attention ?? null, broken, hasFound, lastActivity, leastActivity };
}
