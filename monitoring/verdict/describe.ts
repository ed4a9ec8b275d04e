/**
 * A finding in words. The log, the critical event, the issue and the chat all use the same sentence, so it is written for the
 * person who asked something in a chat: durations, times with their zone, and none of our own jargon. Each place adds its own
 * context (which session, which rule, what comes next).
 */
import type { IncidentRule } from '../../src/config/rules.js';
import type { ConsideredWait, Finding } from '../../src/jobs/findings.js';
import { clockTime } from '../../src/time.js';

/** A sentence is no list: the finding itself has the others. The wait that ended first comes first. */
const MOST_WAITS = 4;
const STATES: Readonly<Record<ConsideredWait['kind'], string>> = {
  tool: 'has been running',
  permission: 'has waited for a permission',
  user: "has waited for a person's answer",
  rate_limit: 'has waited for the model',
  child: 'has waited for another agent',
};

/**
 * @param reached the step that the agent had reached, such as `step 2 of 5`; null if it is not known, or is said elsewhere
 * @returns one sentence: what is wrong, with the readings, and why no wait excuses it; it follows a colon
 */
export function describeFinding(
  { rule, evidence, waits_considered: waits }: Finding<IncidentRule>,
  reached: string | null = null,
): string {
  const byEnd = waits.toSorted((left, right) => endOf(left) - endOf(right));
  const clauses = [...evidence, ...byEnd.slice(0, MOST_WAITS).map(describeWait)];
  if (clauses.length === 0) clauses.push(rule.replaceAll('_', ' '));
  const more = waits.length - MOST_WAITS;
  if (more > 0)
    clauses.push(more === 1 ? 'one more wait does not excuse it' : `and ${more} more waits do not excuse it`);
  if (reached !== null) clauses.push(`the agent had reached ${reached}`);
  return `${clauses.join('; ')}.`;
}

function describeWait(wait: ConsideredWait): string {
  const since = clockTime(Date.parse(wait.since));
  return `${wait.owner} ${STATES[wait.kind]} since ${since}, ${wait.excuses ? 'and' : 'but'} ${wait.why}`;
}

function endOf({ until }: ConsideredWait): number {
  return until === null ? Number.MAX_VALUE : Date.parse(until);
}
