/** Crashed is never stored. It is a question about the process of the last run, asked when somebody looks. */
import { isProcessAlive, type ProcessIdentity } from '../../src/host/identity.js';
import type { Liveness } from '../words.js';
import type { Run, Worklog } from './worklog.js';

interface Runs {
  readonly runs: readonly Pick<Run, 'process' | 'ended_at'>[];
}

/** @param here the identity of a process of this host */
export function livenessOf({ runs }: Runs, here: ProcessIdentity): Liveness {
  const run = runs.at(-1);
  if (run === undefined) return 'none';
  const alive = isProcessAlive(run.process, here);
  return alive === null ? 'unknown' : alive ? 'alive' : 'dead';
}

/** @returns whether the session is active, its last run is proven dead, and nobody has said that the run ended */
export function isCrashed(log: Runs & Pick<Worklog, 'lifecycle'>, here: ProcessIdentity): boolean {
  return log.lifecycle === 'active' && log.runs.at(-1)?.ended_at === null && livenessOf(log, here) === 'dead';
}
