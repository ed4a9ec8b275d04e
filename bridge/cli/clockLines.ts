/** The clocks and the waits of a session's agents, as lines for people. `--json` has the same as data. */

import type { Assessment } from '../../monitoring/verdict/assessSessionHealth.js';
import type { AgentClock } from '../../monitoring/verdict/clocks/agentClocks.js';
import { subAgent } from '../../monitoring/verdict/clocks/plainName.js';
import type { ConsideredWait } from '../../src/jobs/findings.js';
import { describeDuration, localClock } from '../../src/time.js';

export type NamedLine = readonly [name: string, text: string];

/** @returns a line for each clock and each wait, the main agent's first; none if the session owes no work */
export function clockLines({ agents, clock }: Pick<Assessment, 'agents' | 'clock'>): NamedLine[] {
  if (agents.length === 0) return [];
  const worked: NamedLine = ['worked', `for ${describeDuration(clock.owed_ms)}, waits for people not counted`];
  const each = agents.map((agent) => [silenceLine(agent), ...agent.waits.map(waitLine)]);
  return [...(each[0] ?? []), worked, ...each.slice(1).flat()];
}

/** @param at the next deadline, UTC epoch milliseconds @param now null if its distance is of no interest */
export function describeNext(
  { next_rule: rule }: Pick<Assessment, 'next_rule'>,
  at: number | null,
  now: number | null,
): string {
  if (at === null) return 'no rule can become true without new activity';
  const when = now === null ? localClock(at) : `${localClock(at)}, in ${describeDuration(Math.max(at - now, 0))},`;
  return rule === null
    ? `at ${when} a journal line that is ahead of the clock begins to count`
    : `${rule} can become true at ${when} without new activity`;
}

function silenceLine({ agent, silence_ms, counted_from, failing_batches, waits }: AgentClock): NamedLine {
  const since = localClock(Date.parse(counted_from));
  const isExcused = silence_ms === 0 && waits.some(({ excuses }) => excuses);
  const silence = isExcused
    ? `${personAwaited(waits) ?? 'excused by a wait'}; last activity at ${since}`
    : `silent for ${describeDuration(silence_ms)}, since ${since}`;
  const failures = failing_batches === 0 ? '' : `; ${failedBatches(failing_batches)} failed`;
  const who = agent === null ? '' : `${subAgent(agent)}: `;
  return ['clock', `${who}${silence}${failures}`];
}

function personAwaited(waits: readonly ConsideredWait[]): string | null {
  const human = waits.filter(({ kind, excuses }) => excuses && (kind === 'permission' || kind === 'user'));
  const [first] = human.map(({ since }) => Date.parse(since)).sort((left, right) => left - right);
  return first === undefined ? null : `waits for a person since ${localClock(first)}`;
}

function failedBatches(count: number): string {
  return count === 1 ? 'its last batch of calls' : `its last ${count} batches of calls`;
}

function waitLine({ kind, owner, call, since, until, excuses, why }: ConsideredWait): NamedLine {
  const subject = typeof call === 'string' ? `${owner} (${call})` : owner;
  const end = until === null ? 'open-ended' : `until ${localClock(Date.parse(until))}`;
  const effect = excuses ? 'excuses' : 'excuses nothing';
  return ['wait', `${kind}, ${subject}, since ${localClock(Date.parse(since))}, ${end}: ${effect}, ${why}`];
}
