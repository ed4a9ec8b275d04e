/** The wait ledger, which alone excuses silence: each reason has an owner, a start and an expiry. (Judgement rules, 8-11.) */
import type { Thresholds } from '../../../src/config/rules.js';
import type { ConsideredWait } from '../../../src/jobs/findings.js';
import { clockTime, describeDuration, isoTime, MINUTE } from '../../../src/time.js';
import { askedFrom } from '../timeline/askedPerson.js';
import { MAIN_AGENT } from '../timeline/entry.js';
import { LATEST_RETRY_MS } from '../timeline/modelRetry.js';
import { isHumanWait } from '../timeline/openWaits.js';
import type { AgentState, OpenCall, OpenWait, RunState } from '../timeline/state.js';
import { agentInRecord, agentWords, plainName, quotedName, subAgent } from './plainName.js';

/** A tool gets this much more than its call's declared time. */
const TOOL_GRACE_MS = MINUTE;

export interface WaitSetting {
  readonly run: RunState;
  readonly thresholds: Thresholds;
  readonly now: number;
  readonly notBefore: number;
}

export interface Wait {
  /** `sub_agent`: the call started a sub-agent, and is excused while that one is not silent itself. */
  readonly kind: 'tool' | 'sub_agent' | OpenWait['kind'];
  readonly agent: string;
  /** The open call that the wait excuses; null if it has no call of its own and excuses the agent. */
  readonly call: OpenCall | null;
  /** The awaited sub-agent; null for every other kind. */
  readonly child: string | null;
  /** Not in any line of the journal. */
  readonly isInferred?: boolean;
  readonly since: number;
  /** The last instant that the wait excuses, UTC epoch milliseconds; infinite for one that never expires by itself. */
  readonly until: number;
}

/** @returns every open wait, expired or not, except those for sub-agents, whose ends are read from their clocks */
export function waitsOf(agent: AgentState, setting: WaitSetting): Wait[] {
  const { thresholds } = setting;
  const permissions = agent.waits.filter(({ kind }) => kind === 'permission');
  const waits = agent.calls.map((call) => toolWait(agent, call, permissions, setting));
  for (const call of agent.calls) waits.push(...inferredWaits(agent, call, setting));
  for (const wait of agent.waits) {
    if (wait.kind === 'model_retry' && !excusesRetry(wait, agent, thresholds)) continue;
    waits.push(...declaredWaits(agent, wait, thresholds));
  }
  return waits;
}

/** A user who allows less silence than a model's stream may take wants to know at once. */
function excusesRetry(wait: OpenWait, agent: AgentState, thresholds: Thresholds): boolean {
  return wait.since > agent.lastActivity && thresholds.silence_ms > LATEST_RETRY_MS;
}

/** Lasts for the call's own time, which pauses while a permission for it is pending and restarts with the grant. */
function toolWait(
  agent: AgentState,
  call: OpenCall,
  permissions: readonly OpenWait[],
  { thresholds, notBefore }: WaitSetting,
): Wait {
  const declaredMs = call.timeoutMs === null ? thresholds.tool_wait_ms : call.timeoutMs + TOOL_GRACE_MS;
  const isPending = permissions.length > 0 && permissions.some((wait) => covers(wait, call));
  const since = Math.max(call.allowanceSince, notBefore);
  const until = isPending ? Number.POSITIVE_INFINITY : since + declaredMs;
  return { kind: 'tool', agent: agent.id, call, child: null, since, until };
}

/** From the instant at which it seems that a person is asked; before that, the call's own time is what it waits for. */
function inferredWaits(agent: AgentState, call: OpenCall, { run, thresholds, now }: WaitSetting): Wait[] {
  const from = askedFrom(run, call);
  // Zero if the watcher is notified of dialogs, so that nothing has to be inferred.
  if (from === null || from > now || thresholds.inferred_wait_ms === 0) return [];
  const until = call.since + thresholds.inferred_wait_ms;
  return [{ kind: 'permission', agent: agent.id, call, child: null, since: call.since, until, isInferred: true }];
}

function declaredWaits(agent: AgentState, wait: OpenWait, thresholds: Thresholds): Wait[] {
  const human = isHumanWait(wait.kind);
  const until = human ? Number.POSITIVE_INFINITY : (wait.until ?? wait.since + thresholds.tool_wait_ms);
  const common = { kind: wait.kind, agent: agent.id, child: null, since: wait.since, until };
  const calls = agent.calls.filter((call) => covers(wait, call));
  return calls.length === 0 ? [{ ...common, call: null }] : calls.map((call) => ({ ...common, call }));
}

/** A wait for a person that names no call covers every open call of the agent. */
function covers(wait: OpenWait, call: OpenCall): boolean {
  return wait.call === null ? isHumanWait(wait.kind) : call.id === wait.call;
}

/** @returns whether the wait still excuses its own call, or its agent, at `now` */
export function isOpen(wait: Wait, now: number): boolean {
  return now <= wait.until;
}

/** @param agentIsSilent whether its agent was found silent in spite of it */
export function considerWait(wait: Wait, now: number, agentIsSilent: boolean): ConsideredWait {
  const { call, agent, until } = wait;
  return {
    kind: kindOf(wait.kind),
    owner: ownerOf(wait),
    call: call === null || call.id === null ? null : plainName(call.id),
    agent: agentInRecord(agent),
    since: isoTime(wait.since),
    until: Number.isFinite(until) ? isoTime(until) : null,
    excuses: isOpen(wait, now) && !agentIsSilent,
    why: reasonOf(wait, now, agentIsSilent),
  };
}

/** Two kinds are internal: an operator sees a retried stream as a limit of the model, and a sub-agent as a child. */
function kindOf(kind: Wait['kind']): ConsideredWait['kind'] {
  if (kind === 'model_retry') return 'rate_limit';
  return kind === 'sub_agent' ? 'child' : kind;
}

function ownerOf({ call, agent }: Wait): string {
  if (call === null) return agentWords(agent);
  const tool = quotedName(call.tool, 'a tool');
  return agent === MAIN_AGENT ? tool : `${tool} of ${subAgent(agent)}`;
}

function reasonOf(wait: Wait, now: number, agentIsSilent: boolean): string {
  const { kind, child, since, until } = wait;
  if (!isOpen(wait, now)) {
    return child === null
      ? `its limit of ${describeDuration(until - since)} ended at ${clockTime(until)}`
      : `${subAgent(child)} had itself been silent for too long by ${clockTime(until + 1)}`;
  }
  if (agentIsSilent) return 'that does not excuse the silence';
  if (wait.isInferred === true) return `a person has probably been asked and has until ${clockTime(until)}`;
  if (Number.isFinite(until)) {
    return `${child === null ? 'it may run' : `${subAgent(child)} may be silent`} until ${clockTime(until)}`;
  }
  if (child !== null) return `${subAgent(child)} waits for a person`;
  return kind === 'tool' ? 'its clock is stopped until a person answers' : 'a person must answer';
}
