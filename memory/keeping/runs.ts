/** Whether somebody may still be at work on a session. */
import { isProcessAlive } from '../../src/host/identity.js';
import type { Worklog } from '../fold/worklog.js';
import type { Memory } from '../sessions/memory.js';

/** @returns false only if every run has ended, or is proven dead */
export function runMayLive({ surroundings }: Memory, { runs }: Pick<Worklog, 'runs'>): boolean {
  return runs.some((run) => run.ended_at === null && isProcessAlive(run.process, surroundings.process) !== false);
}
