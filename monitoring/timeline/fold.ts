/**
 * Folds one entry into the state. Entries must come in time order; {@link Timeline} sees to that.
 *
 * The rules are those of the judgement: which line opens and closes what (1-4), what counts as activity (6, 7), when waits
 * open and close (8, 9), what is owed (16), and that a repeated line counts once (18).
 */
import { type CallEntry, type Entry, MAIN_AGENT, type ResultEntry } from './entry.js';
import { newErrorStreak, requestInBatch, resetErrorCount, resultInBatch } from './errorStreak.js';
import { fingerprint } from './fingerprint.js';
import { endWait, startWait } from './foldWaits.js';
import { agentOf, findCall, findOldest, touch } from './lineage.js';
import { noteHarnessRecord } from './modelRetry.js';
import { closeWaits, isHuman } from './openWaits.js';
import { type AgentState, newRun, type RunState, type TimelineState } from './state.js';

/** Bound for journals that hold nonsense; the oldest is forgotten first. */
const MOST_CALLS = 256;

/** Changes `state`. */
export function foldEntry(state: TimelineState, entry: Entry): void {
  state.lines += 1;
  state.lastLine = entry.time;
  if (entry.kind === 'run_start' && entry.agent === MAIN_AGENT) {
    state.run = newRun(entry.time);
    return;
  }
  const { run } = state;
  accrue(run, entry.time);
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
    case 'no_activity':
      break;
    default:
      entry satisfies never;
  }
}

/** Sums the owed time up to `time`. */
function accrue(run: RunState, time: number): void {
  if (run.turnSince !== null && run.humanWaits === 0) run.owedMs += Math.max(0, time - run.owedUntil);
  run.owedUntil = time;
}

function openTurn(run: RunState, time: number): void {
  run.turnSince ??= time;
  /** A journal without a `session_start` begins its run with the first turn. */
  if (run.owedSince === 0) run.owedSince = time;
}

function foldPrompt(run: RunState, entry: Entry): void {
  const agent = agentOf(run, entry);
  if (agent.id !== MAIN_AGENT) {
    touch(run, agent, entry.time);
    return;
  }
  run.prompted = true;
  const fromPerson = entry.kind === 'human_prompt';
  /** Within a turn only a person's prompt restarts the clock: the harness speaks while a hung agent is silent. */
  if (run.turnSince === null || fromPerson) touch(run, agent, entry.time);
  openTurn(run, entry.time);
  if (!fromPerson) return;
  run.owedSince = entry.time;
  run.owedMs = 0;
  for (const each of run.agents.values()) resetErrorCount(each.errors);
}

function foldCall(state: TimelineState, entry: CallEntry): void {
  const { run } = state;
  const agent = agentOf(run, entry);
  if (entry.id !== null && (agent.calls.some((call) => call.id === entry.id) || isFinished(run, agent.id, entry.id)))
    return;
  if (!run.prompted) openTurn(run, entry.time);
  showActivity(run, agent, entry.time, entry.id);
  const batchKey = entry.batch ?? `call ${entry.id ?? state.toolCount}`;
  agent.calls.push({
    id: entry.id,
    tool: entry.tool,
    since: entry.time,
    allowanceSince: entry.time,
    timeoutMs: entry.timeoutMs,
    batchKey,
  });
  if (agent.calls.length > MOST_CALLS) agent.calls.shift();
  requestInBatch(agent.errors, batchKey, entry.time);
  state.toolCount += 1;
  state.lastToolCall = entry.time;
}

function foldResult(state: TimelineState, entry: ResultEntry): void {
  const { run } = state;
  if (entry.id !== null && isFinished(run, entry.agent, entry.id)) return;
  const found = entry.id === null ? findOldest(run, entry) : findCall(run, entry.agent, entry.id);
  const speaker = agentOf(run, entry);
  const owner = found?.agent ?? speaker;
  if (!run.prompted && !run.turnEnded) openTurn(run, entry.time);
  showActivity(run, owner, entry.time, entry.id);
  if (speaker !== owner) touch(run, speaker, entry.time);
  if (found === null) state.toolCount += 1;
  else owner.calls = owner.calls.filter((call) => call !== found.call);
  if (entry.id !== null) closeWaits(run, owner, entry.time, (wait) => wait.call === entry.id);
  state.lastToolCall = entry.time;
  run.hasSucceeded ||= entry.outcome === 'ok';
  const batchKey = found?.call.batchKey ?? entry.batch ?? `call ${entry.id ?? state.toolCount}`;
  resultInBatch(owner.errors, batchKey, entry);
  if (entry.id === null) return;
  run.finished.add(finishedKey(owner.id, entry.id));
  if (speaker !== owner) run.finished.add(finishedKey(speaker.id, entry.id));
}

/** Ends a turn: nothing of its agent persists. */
function endTurn(run: RunState, agent: AgentState, time: number): void {
  closeWaits(run, agent, time, () => true);
  touch(run, agent, time);
  if (agent.id !== MAIN_AGENT) {
    run.agents.delete(agent.id);
    return;
  }
  run.turnSince = null;
  run.turnEnded = true;
  agent.calls = [];
  agent.errors = newErrorStreak();
}

function endSubAgents(run: RunState, time: number): void {
  for (const agent of [...run.agents.values()]) if (agent.id !== MAIN_AGENT) endTurn(run, agent, time);
}

/**
 * The agent itself acts: what it asked a person is answered, whether or not the journal says so.
 * @param call the call that the line is about
 */
function showActivity(run: RunState, agent: AgentState, time: number, call: string | null): void {
  if (agent.waits.length > 0) {
    closeWaits(run, agent, time, (wait) => isHuman(wait.kind) && (wait.call === null || wait.call === call));
  }
  touch(run, agent, time);
}

function isFinished(run: RunState, agentId: string, id: string): boolean {
  return run.finished.has(finishedKey(agentId, id));
}

function finishedKey(agentId: string, id: string): number {
  return fingerprint(`${agentId}\n${id}`);
}
