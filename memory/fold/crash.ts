/** Crashed is never stored. It is a question about the process of the present run, asked when somebody looks. */
import { isProcessAlive, isSameProcess, type ProcessIdentity } from '../../src/host/identity.js';
import type { Liveness } from '../words.js';
import type { Conversation, Run, Worklog } from './worklog.js';

/** Why a run ended whose process was proven dead, and which nobody had ended. */
export const LOST = 'lost';

type Ran = Pick<Run, 'process' | 'ended_at'>;
interface Runs {
  readonly runs: readonly Ran[];
}

/**
 * Two agents may work on one session: a conversation is resumed while it is open elsewhere. The end of one says nothing of the other.
 * @param here the identity of a process of this host
 * @returns the last run that goes on, as far as anybody knows; else the last one whose end nobody has seen; else the last one
 */
export function presentRun<Known extends Ran>(runs: readonly Known[], here: ProcessIdentity): Known | null {
  const open = runs.filter(({ ended_at }) => ended_at === null);
  const going = open.length > 1 ? open.findLast(({ process }) => isProcessAlive(process, here) !== false) : undefined;
  return going ?? open.at(-1) ?? runs.at(-1) ?? null;
}

/** @returns the conversation that the agent of the present run had last; null if nobody knows it */
export function presentConversation(
  { runs, conversations }: Pick<Worklog, 'runs' | 'conversations'>,
  here: ProcessIdentity,
): Conversation | null {
  const run = presentRun(runs, here);
  const isOfRun = ({ process, moved_at }: Conversation) =>
    moved_at === null && run !== null && process !== null && isSameProcess(process, run.process);
  return conversations.findLast(isOfRun) ?? null;
}

/** @param here the identity of a process of this host */
export function livenessOf({ runs }: Runs, here: ProcessIdentity): Liveness {
  const run = presentRun(runs, here);
  if (run === null) return 'none';
  const alive = isProcessAlive(run.process, here);
  return alive === null ? 'unknown' : alive ? 'alive' : 'dead';
}

/** @returns whether the session is active, its present run is proven dead, and nobody has said that the run ended */
export function isCrashed(log: Runs & Pick<Worklog, 'lifecycle'>, here: ProcessIdentity): boolean {
  return (
    log.lifecycle === 'active' && presentRun(log.runs, here)?.ended_at === null && livenessOf(log, here) === 'dead'
  );
}

/** @returns the other host of the run that goes on, as far as anybody knows: from here it cannot be seen; null: it is on none */
export function hostElsewhere(
  { lifecycle, runs }: Runs & Pick<Worklog, 'lifecycle'>,
  here: ProcessIdentity,
): string | null {
  const run = lifecycle === 'active' ? presentRun(runs, here) : null;
  return run?.ended_at === null && run.process.host !== here.host ? run.process.host : null;
}

/** @returns the last run that was found dead when another one began; null if none was */
export function lostRun({ runs }: Pick<Worklog, 'runs'>): Run | null {
  return runs.findLast(({ reason }) => reason === LOST) ?? null;
}
