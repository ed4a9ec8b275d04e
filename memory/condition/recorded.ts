/** What the record of a session says, as far as its condition follows from it. */
import { progressOf } from '../fold/state.js';
import { isUnused } from '../fold/unused.js';
import type { Worklog } from '../fold/worklog.js';
import type { LogCounts } from '../logs/reader.js';
import type { Observed } from '../observed/observed.js';
import { stepsOf } from '../observed/step.js';
import type { Recorded } from './condition.js';
import { damageOf } from './damage.js';

/**
 * @param fold what was observed. Null if nothing was; undefined if it was not looked at
 * @param counts of its worklog
 */
export function recordedOf(log: Worklog, fold: Observed | null | undefined, counts: Readonly<LogCounts>): Recorded {
  return {
    lifecycle: log.lifecycle,
    end: log.end?.reason ?? null,
    archived: log.archived !== null,
    // The lists grow with the log, if that is read on.
    runs: [...log.runs],
    notices: [...log.notices],
    ping: log.ping,
    isWaiting: log.waits.size > 0,
    progress: progressOf(stepsOf({ log, fold: fold ?? null })),
    last_activity: Math.max(log.last_activity ?? 0, fold?.lastActivity ?? 0) || null,
    acknowledged_at: log.acknowledged_at,
    isUnused: fold !== undefined && isUnused(log, fold),
    damage: damageOf(counts, log.created_at !== null),
  };
}
