/** How an agent program's process ended, and how that is described. */
import { describeCrash } from '../../../monitoring/verdict/detectors/crash.js';
import { reasonWord } from '../../../monitoring/verdict/detectors/reasons.js';
import type { FailureCause } from './contract.js';

/** `stopped` if it had been asked to. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stopped: boolean;
}

/**
 * @param exit null if the program reported its end but did not exit
 * @returns stable, without spaces: `run_failed_exit_1`
 */
export function reasonOf(cause: FailureCause, exit: Exit | null): string {
  if (cause === 'crash') return exitReason(exit);
  return reasonWord({
    kind: 'plain',
    reason: cause === 'cannot_start' ? 'run_failed_to_start' : `run_failed_${cause}`,
  });
}

function exitReason(exit: Exit | null): string {
  if (exit === null || exit.code === 0) return reasonWord({ kind: 'plain', reason: 'run_failed_without_answer' });
  const { code, signal } = exit;
  return reasonWord(signal === null ? { kind: 'exit', code } : { kind: 'signal', signal });
}

/** @returns a clause for people, worded like the incident that follows, so that they read about it only once */
export function describeExit(exit: Exit | null): string {
  if (exit === null) return 'the agent ended its turn without an answer, and did not exit';
  return describeCrash(exitReason(exit));
}
