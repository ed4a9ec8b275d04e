/** Which agent a line belongs to, who its ancestors are, and whose call an id names. */
import { type Entry, MAIN_AGENT, type ResultEntry } from './entry.js';
import { closeWaits } from './openWaits.js';
import { type AgentState, agentNamed, newAgent, type OpenCall, type RunState } from './state.js';

/** A journal with more of them is nonsense; the quietest agent is forgotten first. */
export const MOST_AGENTS = 256;
const DEEPEST_LINEAGE = 16;

/** @returns the agent of the line, created if it is new */
export function agentOf(run: RunState, entry: Entry): AgentState {
  const agent = agentNamed(run, entry.agent) ?? addAgent(run, entry);
  if (agent.parentAgent === null && agent.id !== MAIN_AGENT && entry.parentCall !== null) {
    agent.parentCall ??= entry.parentCall;
    const starter = findCall(run, MAIN_AGENT, agent.parentCall)?.agent;
    if (starter !== undefined && starter !== agent) {
      agent.parentAgent = starter.id;
      hearCalls(starter, agent.parentCall);
    }
  }
  return agent;
}

/** @returns whether a line of a sub-agent that the call started is known */
export function isStarted({ agents }: RunState, call: string | null): boolean {
  return agents.length > 1 && call !== null && agents.some(({ parentCall }) => parentCall === call);
}

/** @param id of the call that showed a sign of life; null if it may be any of them */
export function hearCalls(agent: AgentState, id: string | null): void {
  const isNews = (call: OpenCall) => !call.isHeard && (id === null || call.id === id);
  if (!agent.calls.some(isNews)) return;
  agent.calls = agent.calls.map((call) => (isNews(call) ? { ...call, isHeard: true } : call));
}

function addAgent(run: RunState, entry: Entry): AgentState {
  if (run.agents.length >= MOST_AGENTS) forgetQuietestAgent(run, entry.time);
  const agent = newAgent(entry.agent, entry.time, run.longestTail);
  run.agents.push(agent);
  return agent;
}

function forgetQuietestAgent(run: RunState, time: number): void {
  let quietest: AgentState | null = null;
  for (const agent of run.agents) {
    if (agent.id !== MAIN_AGENT && (quietest === null || agent.lastActivity < quietest.lastActivity)) quietest = agent;
  }
  if (quietest === null) return;
  closeWaits(run, quietest, time, () => true);
  removeAgent(run, quietest);
}

/** @param agent not the main one */
export function removeAgent(run: RunState, agent: AgentState): void {
  run.agents.splice(run.agents.indexOf(agent), 1);
}

export interface FoundCall {
  readonly agent: AgentState;
  readonly call: OpenCall;
}

/** The line's own agent is searched first: results of sub-agents' calls may come without the sub-agent's name. */
export function findCall(run: RunState, agentId: string, id: string): FoundCall | null {
  const own = agentNamed(run, agentId);
  const ownCall = own === undefined ? undefined : openCall(own, id);
  if (own !== undefined && ownCall !== undefined) return { agent: own, call: ownCall };
  for (const agent of run.agents) {
    const call = openCall(agent, id);
    if (call !== undefined) return { agent, call };
  }
  return null;
}

function openCall(agent: AgentState, id: string): OpenCall | undefined {
  return agent.calls.find((call) => call.id === id);
}

/** Older shape: a result without an id belongs to the oldest open call of its tool. */
export function findOldest(run: RunState, entry: ResultEntry): FoundCall | null {
  const agent = agentNamed(run, entry.agent);
  const call = agent?.calls.find((open) => open.tool === entry.tool);
  return agent === undefined || call === undefined ? null : { agent, call };
}

/** Activity of a sub-agent counts for all its ancestors. */
export function touch(run: RunState, agent: AgentState, time: number): void {
  let each: AgentState | undefined = agent;
  for (let level = 0; each !== undefined && level <= DEEPEST_LINEAGE; level += 1) {
    each.lastActivity = time;
    each = parentOf(run, each);
  }
  run.agents[0].lastActivity = time;
}

/** Usually in the same place as last time: searching a list of hundreds of agents at each line is expensive. */
function parentOf(run: RunState, agent: AgentState): AgentState | undefined {
  if (agent.parentAgent === null) return undefined;
  if (run.agents[agent.parentPlace]?.id !== agent.parentAgent) {
    agent.parentPlace = run.agents.findIndex(({ id }) => id === agent.parentAgent);
  }
  return run.agents[agent.parentPlace];
}
