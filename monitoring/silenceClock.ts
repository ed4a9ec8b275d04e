/**
 * How long an agent has been silent, and from when on that is too long. (Judgement rules, 5, 7, 10.)
 */
import type { Thresholds } from '../src/findings.js';
import type { AgentState, RunState } from './timeline/state.js';
import { isOpen, subAgentWait, type Wait, waitsOf } from './waits.js';

export interface SilenceReading {
  /** What the clock shows, in milliseconds; zero while a wait excuses the silence. */
  readonly clockMs: number;
  /** From when it counts, UTC epoch milliseconds. */
  readonly countedFrom: number;
  /**
   * The first instant at which the agent is silent if nothing more happens, UTC epoch milliseconds: `now` or earlier where
   * it is silent already, infinite where it never will be. Never later than the true instant.
   */
  readonly silentFrom: number;
  readonly waits: readonly Wait[];
}

/** What a clock is read with. */
export interface ClockSetting {
  readonly run: RunState;
  readonly thresholds: Thresholds;
  readonly now: number;
  /** No clock counts from an earlier instant. */
  readonly notBefore: number;
}

/** The clocks of a run's agents, by agent. */
export type SilenceReadings = ReadonlyMap<string, SilenceReading>;

/** Clocks that were read already, by agent; null while one is being read, so that no lineage runs in a circle. */
type Readings = Map<string, SilenceReading | null>;

/**
 * @param agents of whom; those whose calls started others have the clocks of these in view
 * @returns the clock of each, as of an agent that owes work
 */
export function readSilenceClocks(agents: readonly AgentState[], setting: ClockSetting): SilenceReadings {
  const readings: Readings = new Map();
  const read = new Map<string, SilenceReading>();
  for (const agent of agents) read.set(agent.id, readings.get(agent.id) ?? readClock(agent, setting, readings));
  return read;
}

/** One thing that an event is owed for: a call in flight; the agent itself where there is none. */
interface Debt {
  /** The first instant from which on the silence about it is not excused; in the past where nothing is awaited. */
  readonly overdueFrom: number;
  /** What pushed, or will push, its clock forward: there was nothing to do before such a wait was over. */
  readonly pauses: readonly Wait[];
}

function readClock(agent: AgentState, setting: ClockSetting, readings: Readings): SilenceReading {
  readings.set(agent.id, null);
  const { now, notBefore, thresholds } = setting;
  const waits = [...waitsOf(agent, thresholds, notBefore), ...subAgentWaits(agent, setting, readings)];
  const lastActivity = Math.max(agent.lastActivity, notBefore);
  let clockMs = 0;
  let countedFrom = lastActivity;
  let silentFrom = Number.POSITIVE_INFINITY;
  for (const { overdueFrom, pauses } of debtsOf(agent, waits)) {
    let counted = lastActivity;
    for (const pause of pauses) if (!isOpen(pause, now)) counted = Math.max(counted, pause.until);
    const silent = firstSilence(counted, overdueFrom, pauses, thresholds);
    if (silent < silentFrom) countedFrom = counted;
    silentFrom = Math.min(silentFrom, silent);
    if (overdueFrom <= now) clockMs = Math.max(clockMs, now - counted);
  }
  const reading = { clockMs, countedFrom, silentFrom, waits };
  readings.set(agent.id, reading);
  return reading;
}

/**
 * A wait excuses its own call only, so each call in flight has a clock of its own, and the first that runs out makes its
 * agent silent. Where no call is in flight, all waits have to be over.
 */
function debtsOf(agent: AgentState, waits: readonly Wait[]): Debt[] {
  const pauses = waits.filter(countsFromItsEnd).sort((left, right) => left.until - right.until);
  if (agent.calls.length === 0) return [{ overdueFrom: latestEnd(waits) + 1, pauses }];
  return agent.calls.map((call) => ({
    overdueFrom: latestEnd(waits.filter((wait) => wait.call === call)) + 1,
    pauses: pauses.filter((pause) => pause.call === null || pause.call === call),
  }));
}

/** A pause that ends before the silence would be long enough moves the silence to a time after its own end. */
function firstSilence(countedFrom: number, overdueFrom: number, pauses: readonly Wait[], limits: Thresholds): number {
  let counted = countedFrom;
  for (const pause of pauses) {
    if (pause.until < Math.max(overdueFrom, counted + limits.silence_ms + 1)) counted = Math.max(counted, pause.until);
  }
  return Math.max(overdueFrom, counted + limits.silence_ms + 1);
}

/** There was nothing to do before a rate limit or a child's wait was over; an overdue tool excuses nothing. */
function countsFromItsEnd(wait: Wait): boolean {
  return wait.kind === 'rate_limit' || wait.kind === 'child';
}

function latestEnd(waits: readonly Wait[]): number {
  return Math.max(Number.NEGATIVE_INFINITY, ...waits.map(({ until }) => until));
}

/** A call that started a sub-agent is excused while that sub-agent is itself not silent. */
function subAgentWaits(agent: AgentState, setting: ClockSetting, readings: Readings): Wait[] {
  const { agents } = setting.run;
  if (agents.length === 1) return [];
  return agent.calls.flatMap((call) => {
    const children = call.id === null ? [] : agents.filter(({ parentCall }) => parentCall === call.id);
    return children.flatMap((child) => {
      const known = readings.get(child.id);
      const reading = known === undefined ? readClock(child, setting, readings) : known;
      return reading === null ? [] : [subAgentWait(agent, call, child, reading.silentFrom)];
    });
  });
}

/** @returns whether the agent waits for something other than a tool at `now` */
export function isWaiting(waits: readonly Wait[], now: number): boolean {
  return waits.some((wait) => wait.kind !== 'tool' && wait.kind !== 'sub_agent' && isOpen(wait, now));
}
