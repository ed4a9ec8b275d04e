/**
 * Folds one entry into the state. Entries must come in time order; {@link Timeline} ensures that.
 *
 * The rules are those of the judgement: which line opens and closes what (1-4), what counts as activity (6, 7), when waits open
 * and close (8, 9), what is owed (16), and that a repeated line counts once (18).
 */
import { type CallEntry, type Entry, MAIN_AGENT, type ResultEntry } from './entry.js';
import { loneCallKey, newErrorStreak, requestInBatch, resetErrorCount, resultInBatch } from './errorStreak.js';
import { endWait, startWait } from './foldWaits.js';
import { agentOf, findCall, findOldest, hearCalls, isStarted, removeAgent, touch } from './lineage.js';
import { noteHarnessRecord } from './modelRetry.js';
import { closeWaits, isAnsweredBy } from './openWaits.js';
import { accrue, openTurn, openTurnAtCall } from './owedTime.js';
import {
  type AgentState,
  beginRun,
  NO_CALLS,
  newRun,
  type OpenCall,
  type RunState,
  type TimelineState,
} from './state.js';

/** Bound for journals that are nonsense; the oldest is forgotten first. */
const MOST_CALLS = 256;

export function foldEntry(state: TimelineState, entry: Entry): void {
  state.lines += 1;
  state.lastLine = entry.time;
  if (entry.kind === 'run_start' && entry.agent === MAIN_AGENT) {
    // A state into which nothing was folded is as good as a new one.
    if (state.lines === 1) beginRun(state.run, entry.time);
    else state.run = newRun(entry.time, state.run.longestTail);
    state.run.permissionMode = entry.permissionMode;
    return;
  }
  const { run } = state;
  accrue(run, entry.time);
  if (entry.permissionMode !== null) run.permissionMode = entry.permissionMode;
  switch (entry.kind) {
    case 'call':
      foldCall(state, entry);
      break;
    case 'result':
      foldResult(state, entry);
      break;
    case 'wait_start':
      startWait(run, entry);
      break;
    case 'wait_end':
      endWait(run, entry);
      break;
    case 'human_prompt':
    case 'machine_prompt':
      foldPrompt(run, entry);
      break;
    case 'agent_activity':
      showActivity(run, agentOf(run, entry), entry.time, null);
      if (entry.call !== null) hearCalls(agentOf(run, entry), entry.call);
      break;
    case 'tool_tick':
      touch(run, agentOf(run, entry), entry.time);
      hearCalls(agentOf(run, entry), entry.call);
      break;
    case 'run_start':
    case 'tool_activity':
      touch(run, agentOf(run, entry), entry.time);
      break;
    case 'turn_end':
    case 'session_end':
      endTurn(run, agentOf(run, entry), entry.time);
      if (entry.kind === 'session_end' && entry.agent === MAIN_AGENT) endSubAgents(run, entry.time);
      break;
    case 'harness_record':
      noteHarnessRecord(agentOf(run, entry), entry.time);
      break;
    case 'attended':
      run.hasPerson = true;
      break;
    case 'no_activity':
      break;
    default:
      entry satisfies never;
  }
}

function foldPrompt(run: RunState, entry: Entry): void {
  const agent = agentOf(run, entry);
  const fromPerson = entry.kind === 'human_prompt';
  if (agent.id !== MAIN_AGENT) {
    agent.isLaunched = true;
    touch(run, agent, entry.time);
    return;
  }
  run.prompted = true;
  run.hasPerson ||= fromPerson;
  // Within a turn only a person's prompt restarts the clock: the harness writes while a hung agent is silent. A person who
  // types within a turn answers the agent's question, and grants nothing.
  if (run.turnSince === null) showActivity(run, agent, entry.time, null);
  else if (fromPerson) {
    closeWaits(run, agent, entry.time, (wait) => wait.kind === 'user' && wait.call === null);
    touch(run, agent, entry.time);
  }
  openTurn(run, entry.time);
  if (!fromPerson) return;
  run.owedSince = entry.time;
  run.owedMs = 0;
  run.owedSpans = [];
  for (const each of run.agents) {
    resetErrorCount(each.errors);
    each.tail.clear();
  }
}

function foldCall(state: TimelineState, entry: CallEntry): void {
  const { run } = state;
  const agent = agentOf(run, entry);
  if (isRepeated(run, agent, entry.id)) return;
  // An agent that acts without a prompt has begun a turn; a sub-agent that outlives its parent's turn begins none for its
  // parent.
  if (!run.prompted || agent.id === MAIN_AGENT) openTurn(run, entry.time);
  showActivity(run, agent, entry.time, entry.id);
  const batchKey = entry.batch ?? loneCallKey(entry.id ?? String(state.toolCount));
  const call: OpenCall = {
    id: entry.id,
    tool: entry.tool,
    since: entry.time,
    allowanceSince: entry.time,
    timeoutMs: entry.timeoutMs,
    asksFirst: entry.asksFirst,
    batchKey,
    tailNumber: entry.polling ? 0 : agent.tail.request(entry.input, batchKey, entry.tool),
    isHeard: isStarted(run, entry.id),
  };
  addCall(run, agent, call);
  requestInBatch(agent.errors, batchKey, entry.time);
  state.toolCount += 1;
  state.lastToolCall = entry.time;
}

function foldResult(state: TimelineState, entry: ResultEntry): void {
  const { run } = state;
  if (entry.id !== null && !run.finished.add(entry.agent, entry.id)) return;
  const found = entry.id === null ? findOldest(run, entry) : findCall(run, entry.agent, entry.id);
  const speaker = agentOf(run, entry);
  const owner = found?.agent ?? speaker;
  if (!run.prompted && !run.turnEnded) openTurnAtCall(run, entry);
  // First: the end of a permission gives the remaining calls new allowances.
  if (found !== null) removeCall(owner, found.call);
  showActivity(run, owner, entry.time, entry.id);
  if (speaker !== owner) touch(run, speaker, entry.time);
  if (found === null && !(entry.id !== null && run.finished.isAbandoned(speaker.id, entry.id))) state.toolCount += 1;
  if (entry.id !== null && owner.waits.length > 0) closeWaits(run, owner, entry.time, (wait) => wait.call === entry.id);
  state.lastToolCall = entry.time;
  run.hasSucceeded ||= entry.outcome === 'ok';
  const batchKey = found?.call.batchKey ?? entry.batch ?? loneCallKey(entry.id ?? String(state.toolCount));
  resultInBatch(owner.errors, batchKey, entry);
  settleInTail(owner, found?.call ?? null, batchKey, entry);
  if (entry.id !== null && speaker !== owner) run.finished.add(owner.id, entry.id);
}

function isRepeated(run: RunState, { id: agentId, calls }: AgentState, id: string | null): boolean {
  return id !== null && (calls.some((call) => call.id === id) || run.finished.has(agentId, id));
}

/** Unlike pushing, this reserves no spare room, which adds up over thousands of agents. */
function addCall(run: RunState, agent: AgentState, call: OpenCall): void {
  agent.calls = agent.calls.length === 0 ? [call] : agent.calls.concat([call]);
  if (agent.calls.length <= MOST_CALLS) return;
  abandonCalls(run, agent, agent.calls.slice(0, 1));
  agent.calls = agent.calls.slice(1);
}

function abandonCalls(run: RunState, agent: AgentState, calls: readonly OpenCall[]): void {
  for (const { id } of calls) if (id !== null) run.finished.abandon(agent.id, id);
}

function removeCall(agent: AgentState, call: OpenCall): void {
  agent.calls = agent.calls.length === 1 ? NO_CALLS : agent.calls.toSpliced(agent.calls.indexOf(call), 1);
}

function settleInTail(agent: AgentState, call: OpenCall | null, batchKey: string, entry: ResultEntry): void {
  const { tail } = agent;
  if (call !== null) tail.settle(call.tailNumber, entry.output, entry.time);
  else if (!entry.polling) tail.settle(tail.request(entry.input, batchKey, entry.tool), entry.output, entry.time);
}

function endTurn(run: RunState, agent: AgentState, time: number): void {
  closeWaits(run, agent, time, () => true);
  touch(run, agent, time);
  abandonCalls(run, agent, agent.calls);
  agent.calls = NO_CALLS;
  if (agent.id !== MAIN_AGENT) {
    removeAgent(run, agent);
    return;
  }
  run.turnSince = null;
  run.turnEnded = true;
  agent.errors = newErrorStreak();
  agent.tail.clear();
}

function endSubAgents(run: RunState, time: number): void {
  for (const agent of [...run.agents]) if (agent.id !== MAIN_AGENT) endTurn(run, agent, time);
}

/** The agent itself acts, in a line about the call: its question to a person is answered, even if the journal does not say so. */
function showActivity(run: RunState, agent: AgentState, time: number, call: string | null): void {
  if (agent.waits.length > 0) closeWaits(run, agent, time, (wait) => isAnsweredBy(wait, call));
  touch(run, agent, time);
}
