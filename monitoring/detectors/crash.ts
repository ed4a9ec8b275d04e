/** `crash`: a run ended unasked without an answer. Its owner sees it happen; no journal is needed. */
import type { Finding } from '../../src/model.js';
import { isoTime } from '../../src/time.js';

/**
 * @param reason `run_failed_exit_1` and the like
 * @param detail what the run's owner saw, as a sentence
 * @param endedAt epoch milliseconds
 */
export function findCrash(reason: string, detail: string, endedAt: number): Finding {
  return { rule: 'crash', reason, since: isoTime(endedAt), evidence: [detail], waits_considered: [] };
}
