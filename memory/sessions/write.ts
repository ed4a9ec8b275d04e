/** Writes lines to a session's worklog, all or none as far as the state can say before. */
import { requireFields } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import type { NewLine, Stamp } from '../logs/line.js';
import { RefusedError, type WriteOptions } from '../logs/log.js';
import type { OpenSession } from './sessions.js';

/** Of the agent's own list of tasks, which the worklog does not have. */
const TASK = /^t\d+$/;
/** Lines that are of a step, if they name one. */
const OF_A_STEP = ['file', 'log', 'error', 'tokens'];

const MOST_NAMED = 20;

/**
 * @throws UsageError if a field of a line is not as its event wants it; then nothing is written
 * @throws RefusedError with the first reason for which a line was refused, and for a line of a step that there is not
 */
export function writeOrRefuse(
  { log }: Pick<OpenSession, 'log'>,
  stamp: Stamp,
  decide: (state: Worklog) => readonly NewLine[],
  options: WriteOptions = {},
): void {
  const checked = (state: Worklog) => {
    const lines = decide(state);
    for (const line of lines) requireFields(line);
    // Of a newer version's steps nothing is known.
    if (log.counts.newer === 0) requireSteps(state, lines);
    return lines;
  };
  const refusal = log.write(checked, stamp, options).find((outcome) => outcome !== null);
  if (refusal) throw new RefusedError(refusal);
}

/** Not a rule of the log: there the line that added the step may be damaged, and what is of the step still counts. */
function requireSteps({ steps }: Worklog, lines: readonly NewLine[]): void {
  for (const { event, step } of lines) {
    if (!OF_A_STEP.includes(event) || typeof step !== 'string' || TASK.test(step) || steps.has(step)) continue;
    const known =
      steps.size === 0 ? 'the session has none' : `known: ${[...steps.keys()].slice(0, MOST_NAMED).join(', ')}`;
    throw new RefusedError({ code: 'unknown_step', message: `there is no step ${JSON.stringify(step)} (${known})` });
  }
}
