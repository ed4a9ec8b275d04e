/** Judges the agent of a session by the rules of the watchdog, for a caller that looks once. */
import type { Judged } from '../../memory/condition/stuck.js';
import type { Judge } from '../../memory/look/look.js';
import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import { describeFinding } from '../verdict/describe.js';
import { type Sight, TerminalSession } from './terminalSession.js';

/** By the usual thresholds. */
export const judge: Judge = async (memory, id, now) => {
  const sight = await new TerminalSession(memory, id).look({ now, thresholds: DEFAULT_THRESHOLDS, gaps: [] });
  return sight === null ? null : judgedOf(sight);
};

export function judgedOf({ assessment, findings, hasFound, lastActivity, leastActivity }: Sight): Judged {
  const broken = findings.map((found) => ({ rule: found.rule, since: found.since, sentence: describeFinding(found) }));
  return { doing: assessment?.attention ?? null, broken, hasFound, lastActivity, leastActivity };
}
