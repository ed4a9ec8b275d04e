/**
 * Folds `wait_start` and `wait_end`. (Judgement rules, 9.)
 */
import type { WaitEntry } from './entry.js';
import { agentOf, findCall, touch } from './lineage.js';
import { closeWaits, isAnsweredBy, isHumanWait } from './openWaits.js';
import type { AgentState, RunState } from './state.js';

/** Bound for journals that are nonsense; the oldest is forgotten first. */
const MOST_WAITS = 64;

/** A wait that is announced again continues, with the end that was announced last. */
export function startWait(run: RunState, entry: WaitEntry): void {
  const agent = waitingAgent(run, entry);
  touch(run, agent, entry.time);
  const human = isHumanWait(entry.wait);
  /** An agent that asks the model, or starts a child, is no longer held up by a person. */
  if (!human) closeWaits(run, agent, entry.time, (wait) => isAnsweredBy(wait, entry.call));
  const same = agent.waits.find((wait) => wait.kind === entry.wait && wait.call === entry.call);
  // No person is asked for a call that has ended, and no later line about it would ever end the wait.
  if (human && entry.call !== null && run.finished.has(agent.id, entry.call)) return;
  const since = human && same !== undefined ? same.since : entry.time;
  if (same === undefined && human) run.humanWaits += 1;
  const others = agent.waits.filter((wait) => wait !== same);
  agent.waits = [...others, { kind: entry.wait, call: entry.call, since, until: entry.until }];
  if (agent.waits.length > MOST_WAITS) closeWaits(run, agent, entry.time, (wait) => wait === agent.waits[0]);
}

/** An end without an id ends the wait without one, else the oldest of its kind; an end that matches nothing changes nothing. */
export function endWait(run: RunState, entry: WaitEntry): void {
  const agent = waitingAgent(run, entry);
  touch(run, agent, entry.time);
  const ofKind = agent.waits.filter((wait) => wait.kind === entry.wait);
  const ended =
    ofKind.find((wait) => wait.call === entry.call) ??
    (entry.call === null ? ofKind[0] : ofKind.find((wait) => wait.call === null));
  if (ended !== undefined) closeWaits(run, agent, entry.time, (wait) => wait === ended);
}

/** A wait on a call belongs to the agent that made the call, even if another one wrote the line. */
function waitingAgent(run: RunState, entry: WaitEntry): AgentState {
  const named = agentOf(run, entry);
  if (entry.call === null) return named;
  const caller = findCall(run, named.id, entry.call)?.agent;
  if (caller !== undefined || entry.kind === 'wait_start') return caller ?? named;
  const waiting = run.agents.find((agent) => agent.waits.some((wait) => wait.call === entry.call));
  return waiting ?? named;
}
