/** Whether somebody may still be at work on a session. */
import { isProcessAlive, isSameProcess } from '../../src/host/identity.js';
import { oneLine } from '../../src/log/visibleText.js';
import { isoTime } from '../../src/time.js';
import type { Run, Worklog } from '../fold/worklog.js';
import type { Memory } from '../sessions/memory.js';

/** @returns false only if every run has ended, or is proven dead */
export function runMayLive({ surroundings }: Memory, { runs }: Pick<Worklog, 'runs'>): boolean {
  return runs.some((run) => run.ended_at === null && isProcessAlive(run.process, surroundings.process) !== false);
}

/** Like {@link runMayLive}, of this host: a home may be a copy of another machine's, or shared with one. */
export function runMayLiveHere(memory: Memory, { runs }: Pick<Worklog, 'runs'>): boolean {
  return runMayLive(memory, { runs: runs.filter(({ process }) => process.host === memory.surroundings.process.host) });
}

/** @returns the run of another agent than the caller's, whose process is proven alive; null if there is none */
export function otherRun({ surroundings, agentProcess }: Memory, { runs }: Pick<Worklog, 'runs'>): Run | null {
  const isOwn = ({ process }: Run) => agentProcess !== null && isSameProcess(process, agentProcess);
  const isAtWork = ({ process, ended_at }: Run) =>
    ended_at === null && isProcessAlive(process, surroundings.process) === true;
  return runs.find((run) => isAtWork(run) && !isOwn(run)) ?? null;
}

/** @returns which process it is and since when, as the beginning of a sentence */
export function runWords({ process: { pid }, agent, started_at }: Run): string {
  return oneLine(`process ${pid}${agent === null ? '' : ` (${agent})`} has worked on it since ${isoTime(started_at)}`);
}
