/** The folded content of a journal up to some instant: clocks, open waits, batches, repeats. Pure data of bounded size. */
import type { WaitKind } from '../../../src/journal/schema.js';
import { CallTail, USUAL_TAIL } from './callTail.js';
import { EndedCalls } from './endedCalls.js';
import { MAIN_AGENT } from './entry.js';
import { copyErrorStreak, type ErrorStreak, newErrorStreak } from './errorStreak.js';

export interface OpenCall {
  readonly id: string | null;
  readonly tool: string;
  readonly since: number;
  /** Its own allowance starts here: at the request, or at the grant of a permission for it. */
  readonly allowanceSince: number;
  readonly timeoutMs: number | null;
  /** A person is asked for it before it runs, as the call says itself. */
  readonly asksFirst: boolean;
  readonly batchKey: string;
  /** Its number in the agent's tail; zero for one that the loop rule leaves out. */
  readonly tailNumber: number;
  /** Whether it, or a sub-agent that it started, showed a sign of life since its request: then no person is asked for it any more. */
  readonly isHeard: boolean;
}

/** A wait other than a call. */
export interface OpenWait {
  readonly kind: WaitKind | 'model_retry';
  /** The call that it belongs to; null if it is the agent's. */
  readonly call: string | null;
  readonly since: number;
  readonly until: number | null;
}

/** One for all: most agents wait for nothing, and between two calls each has none. */
const NO_WAITS: readonly OpenWait[] = [];
export const NO_CALLS: readonly OpenCall[] = [];

export interface AgentState {
  readonly id: string;
  /** The call that started this sub-agent; null for the main agent, and if the journal does not say. */
  parentCall: string | null;
  /** The agent that made that call, once it is known; the main agent is every agent's ancestor anyway. */
  parentAgent: string | null;
  /** Last known place of that agent in the list; it moves when one before it ends. */
  parentPlace: number;
  /** For a sub-agent: it was given work, and has not reported back. */
  isLaunched: boolean;
  /** Its own latest activity or a descendant's. */
  lastActivity: number;
  /** When the harness last wrote something of its own; no activity. */
  lastRecord: number;
  /** Streams of the model abandoned since the last activity; see `modelRetry.ts`. */
  modelRetries: number;
  calls: readonly OpenCall[];
  waits: readonly OpenWait[];
  errors: ErrorStreak;
  tail: CallTail;
}

/** Since the latest `session_start` that began a run. */
export interface RunState {
  begunAt: number;
  /** Whether there was a prompt; without one, work is owed from the first call. */
  prompted: boolean;
  hasPerson: boolean;
  /** The mode that decides when the program asks a person for permission; null if no line says. */
  permissionMode: string | null;
  turnSince: number | null;
  turnEnded: boolean;
  /** Start of the sum of owed time: a person spoke, or the run began. */
  owedSince: number;
  /** Owed time up to `owedUntil`, without human waits. */
  owedMs: number;
  /** The times that make up `owedMs`: starts and ends in turn, so that a gap removes only what was owed in it. */
  owedSpans: number[];
  owedUntil: number;
  /** Open `permission` and `user` waits, of all agents. */
  humanWaits: number;
  /** The main one first; searched by name in order, because usually there is no other. */
  agents: [AgentState, ...AgentState[]];
  /** Calls with a result, and those whose results the agent does not await any more. */
  finished: EndedCalls;
  /** How many calls of each agent are remembered for the loop rule; see `tailFor`. */
  readonly longestTail: number;
  /** Whether a call succeeded: an agent that only starts has not worked yet. */
  hasSucceeded: boolean;
}

export interface TimelineState {
  lines: number;
  lastLine: number;
  toolCount: number;
  lastToolCall: number | null;
  run: RunState;
}

export function newState(longestTail = USUAL_TAIL): TimelineState {
  return { lines: 0, lastLine: 0, toolCount: 0, lastToolCall: null, run: newRun(0, longestTail) };
}

export function newRun(begunAt: number, longestTail: number): RunState {
  return {
    begunAt,
    prompted: false,
    hasPerson: false,
    permissionMode: null,
    turnSince: null,
    turnEnded: false,
    owedSince: begunAt,
    owedMs: 0,
    owedSpans: [],
    owedUntil: begunAt,
    humanWaits: 0,
    agents: [newAgent(MAIN_AGENT, begunAt, longestTail)],
    finished: new EndedCalls(),
    longestTail,
    hasSucceeded: false,
  };
}

export function newAgent(id: string, lastActivity: number, longestTail: number): AgentState {
  return {
    id,
    parentCall: null,
    parentAgent: null,
    parentPlace: 0,
    isLaunched: false,
    lastActivity,
    lastRecord: 0,
    modelRetries: 0,
    calls: NO_CALLS,
    waits: NO_WAITS,
    errors: newErrorStreak(),
    tail: new CallTail(longestTail),
  };
}

export function copyState(state: TimelineState): TimelineState {
  const { run } = state;
  const [main, ...others] = run.agents;
  const agents: RunState['agents'] = [copyAgent(main), ...others.map(copyAgent)];
  return { ...state, run: { ...run, owedSpans: [...run.owedSpans], agents, finished: run.finished.copy() } };
}

function copyAgent(agent: AgentState): AgentState {
  return {
    ...agent,
    errors: copyErrorStreak(agent.errors),
    tail: agent.tail.copy(),
  };
}

/** @returns the agent of this name; undefined if it is not known yet, or has ended */
export function agentNamed({ agents }: RunState, id: string): AgentState | undefined {
  return id === MAIN_AGENT ? agents[0] : agents.find((agent) => agent.id === id);
}

/** The run of a blank state begins. */
export function beginRun(run: RunState, time: number): void {
  run.begunAt = time;
  run.owedSince = time;
  run.owedUntil = time;
  run.agents[0].lastActivity = time;
}
