/** Which calls have ended, by id: a repeated line counts once, and an ended call awaits nothing. (Judgement rules, 18.) */
import { MAIN_AGENT } from './entry.js';
import { fingerprint } from './fingerprint.js';
import type { AgentState, OpenCall, RunState } from './state.js';

/** @returns whether the agent has already made a call with this id */
export function isRepeated(run: RunState, agent: AgentState, id: string): boolean {
  return agent.calls.some((call) => call.id === id) || isOver(run, agent, id);
}

/** @returns whether the call has its result, or nobody waits for it any more */
export function isOver(run: RunState, agent: AgentState, id: string): boolean {
  const key = callKey(agent.id, id);
  return run.finished.has(key) || run.finished.has(abandoned(key));
}

/** Nobody waits for their results any more; a result that still comes belongs to a call that was counted. */
export function abandonCalls(run: RunState, agent: AgentState, calls: readonly OpenCall[]): void {
  for (const { id } of calls) if (id !== null) run.finished.add(abandoned(callKey(agent.id, id)));
}

export function isAbandoned(run: RunState, agent: AgentState, id: string | null): boolean {
  return id !== null && run.finished.has(abandoned(callKey(agent.id, id)));
}

function abandoned(key: number): number {
  return -1 - key;
}

/** Ids are unique only within their agent: a scripted sub-agent may number its calls as its parent does. */
export function callKey(agentId: string, id: string): number {
  return agentId === MAIN_AGENT ? fingerprint(id) : fingerprint(id, fingerprint(agentId));
}
