/** How it is known that an agent of a session is gone. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { isoTime } from '../../src/time.js';
import { isOpen, Runs } from '../fold/runs.js';
import type { Run, Worklog } from '../fold/worklog.js';
import type { Observed } from '../observed/observed.js';
import { LOST } from '../words.js';

/**
 * @param fold null if nothing was observed
 * @param here the identity of a process of this host
 * @returns how it is known that the agent of the present run is gone, in a clause
 */
export function proofOf(log: Worklog, fold: Observed | null, here: ProcessIdentity): string {
  const run = new Runs(log, here).present;
  if (run === null) return 'no run is known';
  const { pid, boot_id } = run.process;
  const { ended_at: ended } = run;
  if (ended !== null) {
    const before = leftTurnOf(log, fold, run);
    const end = `process ${pid} ended at ${isoTime(ended)}`;
    return before === null
      ? `${end}, in the middle of a turn`
      : `${leftWords(before)}, and ${end} without going on with it`;
  }
  return boot_id === here.boot_id
    ? `process ${pid} is gone and did not report its end`
    : `process ${pid} ran before this host was started again and did not report its end`;
}

/** @returns the earlier run that left the open turn. Null if it is the turn of the last run, or that is unknown */
export function leftTurnOf({ runs }: Worklog, fold: Observed | null, last: Run | null): Run | null {
  const deed = Math.max(fold?.actions.at(-1)?.at ?? 0, fold?.asked.at(-1)?.at ?? 0);
  if (last === null || deed === 0 || deed >= last.started_at) return null;
  return runs.findLast((run) => run !== last && !isOpen(run) && run.started_at <= deed) ?? null;
}

function leftWords({ process: { pid }, reason }: Run): string {
  return reason === LOST
    ? `process ${pid} was gone in the middle of a turn and had not reported its end`
    : `process ${pid} ended in the middle of a turn`;
}
