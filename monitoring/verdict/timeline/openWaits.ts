import type { AgentState, OpenWait, RunState } from './state.js';

export function isHumanWait(kind: string): boolean {
  return kind === 'permission' || kind === 'user';
}

/** @returns whether an activity of its agent, with that call, shows that a person has answered, although no line says so */
export function isAnsweredBy(wait: OpenWait, call: string | null): boolean {
  return isHumanWait(wait.kind) && (wait.call === null || wait.call === call);
}

export function closeWaits(run: RunState, agent: AgentState, time: number, ends: (wait: OpenWait) => boolean): void {
  const ended = agent.waits.filter(ends);
  if (ended.length === 0) return;
  agent.waits = agent.waits.filter((wait) => !ended.includes(wait));
  for (const wait of ended) {
    if (isHumanWait(wait.kind)) run.humanWaits -= 1;
    if (wait.kind === 'permission') restartAllowance(agent, wait.call, time);
  }
}

/** While a permission was pending the call's own allowance was paused; it restarts with the grant. */
function restartAllowance(agent: AgentState, call: string | null, time: number): void {
  agent.calls = agent.calls.map((open) =>
    call === null || open.id === call ? { ...open, allowanceSince: time } : open,
  );
}
