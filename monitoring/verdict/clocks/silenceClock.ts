/** How long an agent has been silent, and from which instant that is too long. (Judgement rules, 5, 7, 10.) */
import type { Thresholds } from '../../../src/config/rules.js';
import { isHumanWait } from '../timeline/openWaits.js';
import type { AgentState, OpenCall, RunState } from '../timeline/state.js';
import { isOpen, type Wait, type WaitSetting, waitsOf } from './waits.js';

export interface SilenceReading {
  /** The clock's reading in milliseconds; zero while a wait excuses the silence. */
  readonly clockMs: number;
  /** The start of the count, UTC epoch milliseconds. */
  readonly countedFrom: number;
  /**
   * The first instant at which the agent is silent without further activity, UTC epoch milliseconds: `now` or earlier if it is
   * silent already, infinite if it never will be. Never later than the true instant.
   */
  readonly silentFrom: number;
  readonly waits: readonly Wait[];
}

export type SilenceReadings = ReadonlyMap<string, SilenceReading>;

interface Readings {
  /** Clocks that were already read, by agent; null while one is being read, so that no lineage runs in a circle. */
  readonly clocks: Map<string, SilenceReading | null>;
  /** The agents that a call started, by its id, in the order of the run. */
  readonly children: ReadonlyMap<string, readonly AgentState[]>;
}

/** @param agents to read; their calls may be excused by the clocks of the agents that they started */
export function readSilenceClocks(agents: readonly AgentState[], setting: WaitSetting): SilenceReadings {
  const readings: Readings = { clocks: new Map(), children: childrenByCall(setting.run) };
  const read = (agent: AgentState) => readings.clocks.get(agent.id) ?? readClock(agent, setting, readings);
  return new Map(agents.map((agent) => [agent.id, read(agent)]));
}

function childrenByCall({ agents }: RunState): ReadonlyMap<string, readonly AgentState[]> {
  const children = new Map<string, AgentState[]>();
  for (const agent of agents) {
    if (agent.parentCall !== null) children.set(agent.parentCall, [...(children.get(agent.parentCall) ?? []), agent]);
  }
  return children;
}

/** One thing for which an event is owed: a call in flight, or the agent itself if there is none. */
interface Debt {
  /** The first instant at which its silence is not excused; in the past if nothing is awaited. */
  readonly overdueFrom: number;
  /** Waits that pushed, or will push, its clock forward: there was nothing to do before they ended. */
  readonly pauses: readonly Wait[];
}

function readClock(agent: AgentState, setting: WaitSetting, readings: Readings): SilenceReading {
  readings.clocks.set(agent.id, null);
  const { now, notBefore, thresholds } = setting;
  const waits = [...waitsOf(agent, setting), ...subAgentWaits(agent, setting, readings)];
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
  readings.clocks.set(agent.id, reading);
  return reading;
}

/**
 * A wait excuses only its own call, so each call in flight has a clock of its own, and the first that runs out makes its agent
 * silent. If no call is in flight, all waits must have ended. Each wait is examined once, however many calls there are: a
 * replay asks at every line.
 */
function debtsOf(agent: AgentState, waits: readonly Wait[]): Debt[] {
  const pauses = waits.filter(countsFromItsEnd).sort((left, right) => left.until - right.until);
  if (agent.calls.length === 0) {
    return [{ overdueFrom: Math.max(Number.NEGATIVE_INFINITY, ...waits.map(({ until }) => until)) + 1, pauses }];
  }
  const ends = new Map<OpenCall, number>();
  for (const { call, until } of waits) {
    if (call !== null) ends.set(call, Math.max(ends.get(call) ?? until, until));
  }
  return agent.calls.map((call) => ({
    overdueFrom: (ends.get(call) ?? Number.NEGATIVE_INFINITY) + 1,
    pauses: pauses.filter((pause) => pause.call === null || pause.call === call),
  }));
}

/** A pause that ends before the silence would be long enough moves the silence to a time after the pause. */
function firstSilence(countedFrom: number, overdueFrom: number, pauses: readonly Wait[], limits: Thresholds): number {
  let counted = countedFrom;
  for (const pause of pauses) {
    if (pause.until < Math.max(overdueFrom, counted + limits.silence_ms + 1)) counted = Math.max(counted, pause.until);
  }
  return Math.max(overdueFrom, counted + limits.silence_ms + 1);
}

/** There was nothing to do before a rate limit or a child's wait ended; an overdue tool excuses nothing. */
function countsFromItsEnd(wait: Wait): boolean {
  return wait.kind === 'rate_limit' || wait.kind === 'child';
}

/** A call that started a sub-agent is excused while that sub-agent is itself not silent. (Judgement rules, 10.) */
function subAgentWaits(agent: AgentState, setting: WaitSetting, readings: Readings): Wait[] {
  if (readings.children.size === 0) return [];
  return agent.calls.flatMap((call): Wait[] => {
    const children = call.id === null ? [] : (readings.children.get(call.id) ?? []);
    return children.flatMap((child): Wait | Wait[] => {
      const known = readings.clocks.get(child.id);
      const reading = known === undefined ? readClock(child, setting, readings) : known;
      if (reading === null) return [];
      const until = reading.silentFrom - 1;
      return { kind: 'sub_agent', agent: agent.id, call, child: child.id, since: call.since, until };
    });
  });
}

/** @returns whether the agent waits for something other than a tool at `now` */
export function isWaiting(waits: readonly Wait[], now: number): boolean {
  return waits.some((wait) => wait.kind !== 'tool' && wait.kind !== 'sub_agent' && isOpen(wait, now));
}

/** @returns whether any of the agents waits for a person at `now`: a sub-agent's question goes to the same one */
export function isPersonAsked(clocks: SilenceReadings, now: number): boolean {
  const isAsking = (wait: Wait) => isHumanWait(wait.kind) && isOpen(wait, now);
  return [...clocks.values()].some(({ waits }) => waits.some(isAsking));
}
