/** The clocks of a session's agents, for people who look: a sub-agent may be overdue while its parent rightly waits for it. */
import type { Thresholds } from '../../../src/config/rules.js';
import type { ConsideredWait } from '../../../src/jobs/findings.js';
import { isoTime } from '../../../src/time.js';
import type { AgentState, RunState } from '../timeline/state.js';
import { agentInRecord } from './plainName.js';
import { isPersonAsked, readSilenceClocks, type SilenceReading, type SilenceReadings } from './silenceClock.js';
import { considerWait, isOpen } from './waits.js';

/** The readings of one agent's clocks. */
export interface AgentClock {
  /** The sub-agent's id; null: the main agent. */
  readonly agent: string | null;
  /** Zero while a wait excuses the silence. */
  readonly silence_ms: number;
  /** From when the silence counts, ISO 8601. */
  readonly counted_from: string;
  /** The first instant at which it is silent for too long without further activity, ISO 8601; null: never. */
  readonly silent_from: string | null;
  /** In a row, up to now. */
  readonly failing_batches: number;
  /** Its open waits, expired or not. */
  readonly waits: readonly ConsideredWait[];
}

/** @returns the main agent, and the sub-agents that are called for, do or await something, or have just failed */
export function agentsAtWork(run: RunState): AgentState[] {
  const [main, ...others] = run.agents;
  const owing = new Set(owingSubAgents(run));
  return [main, ...others.filter((agent) => agent.waits.length + agent.errors.count > 0 || owing.has(agent))];
}

/** @returns the sub-agents whose parents wait for them, or that have calls in flight: others may have finished */
export function owingSubAgents({ agents }: RunState): AgentState[] {
  const [, ...others] = agents;
  if (others.length === 0) return [];
  const called = new Set(agents.flatMap(({ calls }) => calls.map(({ id }) => id)));
  return others.filter(({ parentCall, calls }) => calls.length > 0 || (parentCall !== null && called.has(parentCall)));
}

/** @returns the clock readings of each agent that has a clock, the main one first */
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
 * A sub-agent's background question is put before a person even if its main agent's turn has ended.
 * @returns the clock readings of sub-agents, if one of them asks; none if nobody is asked
 */
export function clocksOfAsking(run: RunState, thresholds: Thresholds, now: number): AgentClock[] {
  const setting = { run, thresholds, now, notBefore: Number.NEGATIVE_INFINITY };
  const clocks = readSilenceClocks(owingSubAgents(run), setting);
  return isPersonAsked(clocks, now) ? describeClocks(run, clocks, now) : [];
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
