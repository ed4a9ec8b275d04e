/**
 * The wait ledger: every reason why silence is expected, as data with an owner, a start and an expiry of its own.
 * (Judgement rules, 8-11.) It is the one mechanism that excuses silence; detectors only read it.
 */
import type { ConsideredWait, Thresholds } from '../src/model.js';
import { describeDuration, isoTime, MINUTE } from '../src/time.js';
import { plainName } from './plainName.js';
import type { AgentState, OpenCall, OpenWait } from './timeline/state.js';

/** A tool gets this much more than the time that its call declares. */
export const TOOL_GRACE_MS = MINUTE;

export interface Wait {
  readonly kind: 'tool' | OpenWait['kind'];
  /** The call that waits, else the agent. */
  readonly owner: string;
  /** The open call that the wait excuses; null: no call of its own, it excuses the agent. */
  readonly call: OpenCall | null;
  readonly since: number;
  /** The last instant that the wait excuses, UTC epoch milliseconds; infinite for one that never expires by itself. */
  readonly until: number;
}

/**
 * @param agent whose waits
 * @param thresholds `tool_wait_ms` is how long a wait excuses that declares no end
 * @param notBefore the clocks started anew at this instant, and with them what a call in flight is allowed
 * @returns every open wait, expired or not
 */
export function waitsOf(agent: AgentState, thresholds: Thresholds, notBefore: number): Wait[] {
  const waits = agent.calls.map((call) => toolWait(call, thresholds, notBefore));
  for (const wait of agent.waits) {
    if (wait.kind === 'model_retry' && wait.since <= agent.lastActivity) continue;
    waits.push(...declaredWaits(agent, wait, thresholds));
  }
  return waits;
}

/** @returns the last instant at which nothing but the call's own time excuses it */
function toolWait(call: OpenCall, thresholds: Thresholds, notBefore: number): Wait {
  const allowedMs = call.timeoutMs === null ? thresholds.tool_wait_ms : call.timeoutMs + TOOL_GRACE_MS;
  const since = Math.max(call.allowanceSince, notBefore);
  return { kind: 'tool', owner: callName(call), call, since, until: since + allowedMs };
}

/** A person's answer that is awaited without saying for which call covers every open call of the agent. */
function declaredWaits(agent: AgentState, wait: OpenWait, thresholds: Thresholds): Wait[] {
  const human = isHumanWait(wait.kind);
  const until = human ? Number.POSITIVE_INFINITY : (wait.until ?? wait.since + thresholds.tool_wait_ms);
  const common = { kind: wait.kind, since: wait.since, until };
  const calls = agent.calls.filter((call) => (wait.call === null ? human : call.id === wait.call));
  if (calls.length === 0)
    return [
      {
        ...common,
        owner: agent.id === '' ? 'the agent' : `agent ${plainName(agent.id, 'without a plain name')}`,
        call: null,
      },
    ];
  return calls.map((call) => ({ ...common, owner: callName(call), call }));
}

/** @returns whether only a person can end the wait */
export function isHumanWait(kind: Wait['kind']): boolean {
  return kind === 'permission' || kind === 'user';
}

/** @returns whether the wait still excuses its own call, or its agent, at `now` */
export function isOpen(wait: Wait, now: number): boolean {
  return now <= wait.until;
}

/**
 * @param wait a wait that was looked at
 * @param now UTC epoch milliseconds
 * @param agentIsSilent whether its agent was found silent in spite of it
 * @returns the wait with the reason why it does, or does not, excuse the silence
 */
export function considerWait(wait: Wait, now: number, agentIsSilent: boolean): ConsideredWait {
  const until = Number.isFinite(wait.until) ? wait.until : null;
  return {
    kind: wait.kind === 'model_retry' ? 'rate_limit' : wait.kind,
    owner: wait.owner,
    since: isoTime(wait.since),
    until: until === null ? null : isoTime(until),
    excuses: isOpen(wait, now) && !agentIsSilent,
    why: reasonOf(wait, until, now, agentIsSilent),
  };
}

function reasonOf(wait: Wait, until: number | null, now: number, agentIsSilent: boolean): string {
  if (!isOpen(wait, now)) {
    return `its ${describeDuration(wait.until - wait.since)} were over at ${clockTime(wait.until)}`;
  }
  if (agentIsSilent) return 'it excuses nothing but its own call';
  return until === null ? 'a person has to answer' : `it has until ${clockTime(until)}`;
}

/** @returns the time of day, UTC, as `10:02:00` */
export function clockTime(instantMs: number): string {
  return isoTime(instantMs).slice(11, 19);
}

function callName(call: OpenCall): string {
  const tool = plainName(call.tool, 'a tool');
  return call.id === null ? tool : `${tool} (${plainName(call.id, 'a call')})`;
}
