/** The clocks of a session's agents, for people who look: a sub-agent may be overdue while its parent rightly waits for it. */
import type { ConsideredWait } from '../../../src/jobs/findings.js';
import { isoTime } from '../../../src/time.js';
import { MAIN_AGENT } from '../timeline/entry.js';
import type { AgentState, RunState } from '../timeline/state.js';
import { agentInRecord } from './plainName.js';
import type { SilenceReading, SilenceReadings } from './silenceClock.js';
import { considerWait, isOpen } from './waits.js';

export interface AgentClock {
  readonly agent: string | null;
  /** Zero while a wait excuses the silence. */
  readonly silence_ms: number;
  readonly counted_from: string;
  /** The first instant at which it is silent for too long without further activity, ISO 8601; null if never. */
  readonly silent_from: string | null;
  /** In a row, up to now. */
  readonly failing_batches: number;
  /** Its open waits, expired or not. */
  readonly waits: readonly ConsideredWait[];
}

/** @returns those that are called for, do or await something, or have just failed; the main one always, if it owes */
export function agentsAtWork(run: RunState, owing: readonly AgentState[]): AgentState[] {
  const subAgents = new Set(owingSubAgents(run));
  const isAtWork = (agent: AgentState) => agent.waits.length + agent.errors.count > 0 || subAgents.has(agent);
  return owing.filter((agent) => agent.id === MAIN_AGENT || isAtWork(agent));
}

/**
 * Others may have finished: not every journal says so. A sub-agent without a known call may be the harness's own.
 * @returns the sub-agents that have not reported back, whose parents wait for them, or that have calls in flight
 */
export function owingSubAgents({ agents }: RunState): AgentState[] {
  const [, ...others] = agents;
  if (others.length === 0) return [];
  const called = new Set(agents.flatMap(({ calls }) => calls.map(({ id }) => id)));
  const isAwaited = ({ parentCall, isLaunched }: AgentState) =>
    parentCall !== null && (isLaunched || called.has(parentCall));
  return others.filter((agent) => agent.calls.length > 0 || isAwaited(agent));
}

/** @returns the clock readings of each agent that has a clock, the main one first if it has one */
export function describeClocks({ agents }: RunState, clocks: SilenceReadings, now: number): AgentClock[] {
  return agents.flatMap(({ id, errors }) => {
    const reading = clocks.get(id);
    if (reading === undefined) return [];
    const { clockMs, countedFrom, silentFrom } = reading;
    return {
      agent: agentInRecord(id),
      silence_ms: clockMs,
      counted_from: isoTime(countedFrom),
      silent_from: Number.isFinite(silentFrom) ? isoTime(silentFrom) : null,
      failing_batches: errors.count,
      waits: considered(reading, now),
    };
  });
}

/**
 * @returns an agent's waits, each with its reason; a wait for a sub-agent that is silent itself is followed by that one's own
 */
export function considerAll(reading: SilenceReading, clocks: SilenceReadings, now: number): ConsideredWait[] {
  const seen = new Set<SilenceReading>();
  const consider = (each: SilenceReading): ConsideredWait[] => {
    if (seen.has(each)) return [];
    seen.add(each);
    const overdue = each.waits.filter((wait) => !isOpen(wait, now));
    const below = overdue.flatMap(({ child }) => (child === null ? [] : (clocks.get(child) ?? [])));
    return [...considered(each, now), ...below.flatMap(consider)];
  };
  return consider(reading);
}

function considered({ waits, silentFrom }: SilenceReading, now: number): ConsideredWait[] {
  return waits.map((wait) => considerWait(wait, now, silentFrom <= now));
}
