/** Takes from a session's record the part that its condition follows from. */
import type { Ran, RunsOf } from '../fold/runs.js';
import { type Progress, progressOf } from '../fold/state.js';
import { isUnused } from '../fold/unused.js';
import type { Worklog } from '../fold/worklog.js';
import type { LogCounts } from '../logs/reader.js';
import { type LooseEnds, looseEndsOf } from '../observed/looseEnds.js';
import type { Observed } from '../observed/observed.js';
import { stepsOf } from '../observed/step.js';
import type { EndReason } from '../words.js';
import type { Recorded } from './condition.js';
import { damageOf } from './damage.js';

/**
 * @param fold null if nothing was observed; undefined if it was not looked at
 * @param counts of its worklog
 * @param isUnseen neither transcript nor journal exists
 */
export function recordedOf(
  log: Worklog,
  fold: Observed | null | undefined,
  counts: Readonly<LogCounts>,
  isUnseen = false,
): Recorded {
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
    isUnused: fold !== undefined && isUnused(log, fold, isUnseen),
    isUnseen,
    // One that was not looked at may owe an answer.
    looseEnds: { ...looseEndsOf(log, fold ?? null), ...(fold === undefined && { answered: false }) },
    damage: damageOf(counts, log.created_at !== null),
  };
}

/** The fields of `state.json` that are read. */
export interface WrittenState extends RunsOf<Ran>, Pick<Recorded, 'archived' | 'last_activity' | 'acknowledged_at'> {
  readonly end: { readonly reason: EndReason } | null;
  readonly progress: Progress;
  readonly loose_ends: LooseEnds;
  readonly log: Pick<LogCounts, 'lines' | 'unreadable' | 'newer'>;
}

/** @param state of a session that has begun, and on which no agent works: nothing is noticed, excused or waited for */
export function recordedIn(state: WrittenState): Recorded {
  return {
    lifecycle: state.lifecycle,
    end: state.end?.reason ?? null,
    archived: state.archived,
    runs: state.runs,
    notices: [],
    ping: null,
    isWaiting: false,
    progress: state.progress,
    last_activity: state.last_activity,
    acknowledged_at: state.acknowledged_at,
    isUnused: false,
    isUnseen: false,
    looseEnds: state.loose_ends,
    damage: damageOf(state.log, true),
  };
}
