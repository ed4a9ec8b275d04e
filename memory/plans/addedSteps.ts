/** Adds steps to a plan while other writers may do so, too. */
import type { SessionLog, WorklogLine } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import type { Refusal } from '../logs/kind.js';
import type { Stamp } from '../logs/line.js';

/** @returns the number of the next step, after `others` new ones */
export function freeStepId({ steps }: Worklog, others = 0): string {
  let left = others;
  for (let number = 1; ; number += 1) {
    if (steps.has(String(number))) continue;
    if (left === 0) return String(number);
    left -= 1;
  }
}

/**
 * Adds steps under free numbers. If another writer takes a number first, the step gets the next one.
 * @param missing the `step_added` lines of the steps that the plan does not have
 * @returns why steps were refused
 */
export function addSteps(
  log: SessionLog,
  stamp: Stamp,
  missing: (state: Worklog) => readonly WorklogLine[],
): Refusal[] {
  for (;;) {
    const refusals = log.write(missing, stamp).filter((outcome) => outcome !== null);
    if (refusals.every(({ code }) => code !== 'duplicate_step')) return refusals;
  }
}
