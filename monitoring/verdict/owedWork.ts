/** Whether a session owes work, and for how long: by its journal and its record in the store. */
import type { SessionStatus } from '../../src/jobs/model.js';
import { owingSubAgents } from './clocks/agentClocks.js';
import type { Gap, OwedTime } from './detectors/detector.js';
import { owedUntil } from './timeline/askedPerson.js';
import type { AgentState, RunState } from './timeline/state.js';

/** A session as the store knows it; empty offline. */
export interface SessionContext {
  /** Nothing is owed unless it is `active`. */
  readonly status?: SessionStatus;
  /** When the present run started; anything older belongs to an earlier one. */
  readonly started_at?: number | null;
  readonly last_activity?: number | null;
  /** Known host sleep and late watchdogs: every clock restarts after the latest one. */
  readonly gaps?: readonly Gap[];
}

const NO_AGENTS: readonly AgentState[] = [];

/**
 * While the main agent owes, its sub-agents are judged with it. A sub-agent owes until it has reported back, whatever the main
 * agent owes: then it alone is judged. (Judgement rules, 2 and 3.)
 * @returns the agents to judge, the main one first if it owes; none if nothing is owed
 */
export function agentsOwing(run: RunState, context: SessionContext): readonly AgentState[] {
  if (context.status !== undefined && context.status !== 'active') return NO_AGENTS;
  if (mainOwes(run, context)) return run.agents;
  return run.agents.length === 1 ? NO_AGENTS : owingSubAgents(run);
}

/** From `user_prompt` to `turn_end`. A run without a prompt owes from its first call; online, from its start. */
function mainOwes(run: RunState, context: SessionContext): boolean {
  if (run.turnSince !== null) return true;
  return context.status === 'active' && !run.prompted && !run.turnEnded;
}

export function clocksStart(now: number, context: SessionContext): number {
  let start = context.started_at ?? Number.NEGATIVE_INFINITY;
  for (const gap of context.gaps ?? []) if (gap.until <= now) start = Math.max(start, gap.until);
  return start;
}

export function owedTime(run: RunState, now: number, context: SessionContext): OwedTime {
  const until = owedUntil(run, now);
  const since = Math.max(run.owedSince, context.started_at ?? Number.NEGATIVE_INFINITY);
  // A line that is slightly ahead of the clock was summed up to its own time: the excess is taken back.
  const { gaps = [] } = context;
  const spans = gaps.length > 0 && until !== run.owedUntil ? [...run.owedSpans, run.owedUntil, until] : run.owedSpans;
  const ms = run.owedMs + until - run.owedUntil - timeInGaps(spans, gaps);
  const running = run.turnSince !== null && run.humanWaits === 0 && until === now;
  return { since, ms: Math.max(0, Math.min(ms, now - since)), running };
}

/** @param spans starts and ends in turn, ascending @returns milliseconds in any gap; two watchdogs record the same sleep */
function timeInGaps(spans: readonly number[], gaps: readonly Gap[]): number {
  let ms = 0;
  let doneUntil = Number.NEGATIVE_INFINITY;
  for (const gap of gaps.toSorted((left, right) => left.from - right.from)) {
    const from = Math.max(gap.from, doneUntil);
    for (let index = 0; index + 1 < spans.length; index += 2) {
      const begin = Math.max(from, spans[index] ?? 0);
      ms += Math.max(0, Math.min(gap.until, spans[index + 1] ?? 0) - begin);
    }
    doneUntil = Math.max(doneUntil, gap.until);
  }
  return ms;
}
