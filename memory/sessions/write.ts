/** Writes lines to a session's worklog, all or none as far as the state can say before. */
import { requireFields, type WorklogLine } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { type Refusal, RefusedError } from '../logs/kind.js';
import type { Stamp } from '../logs/line.js';
import type { WriteOptions } from '../logs/log.js';
import type { OpenSession } from './sessions.js';
import { copyFor, requireLegal } from './trial.js';

/** The id of an entry in the agent's own list of tasks, which is not in the worklog. */
const TASK = /^t\d+$/;

const MOST_NAMED = 20;

/**
 * As {@link writeTogether}, for a caller that cannot do with less than all lines.
 * @throws RefusedError also for the first line that was refused because another writer has changed the state in between
 */
export function writeOrRefuse(
  session: Pick<OpenSession, 'log'>,
  stamp: Stamp,
  decide: Decide,
  options: WriteOptions = {},
): void {
  const refusal = writeTogether(session, stamp, decide, options).find((outcome) => outcome !== null);
  if (refusal) throw new RefusedError(refusal);
}

type Decide = (state: Worklog) => readonly WorklogLine[];

/**
 * Several lines are written only if the present state allows each of them, after those before it. A single line is written in any case,
 * so that an illegal move is counted.
 * @returns for each line why it was refused; null if it was applied
 * @throws UsageError if a field of a line is not as its event wants it; then nothing is written
 * @throws RefusedError with the first reason for which one of several lines is refused, and for a line of a step that there is not;
 *   then nothing is written
 */
export function writeTogether(
  { log }: Pick<OpenSession, 'log'>,
  stamp: Stamp,
  decide: Decide,
  options: WriteOptions = {},
): (Refusal | null)[] {
  const checked = (state: Worklog) => {
    const lines = decide(state);
    for (const line of lines) requireFields(line);
    // The steps of a newer version are unknown here.
    if (log.counts.newer === 0) requireSteps(state, lines);
    if (lines.length > 1) requireLegal(copyFor(state, lines), lines, stamp);
    return lines;
  };
  return log.write(checked, stamp, options);
}

/** Writes a line that is no decision: also to a log that a newer version has written to. @throws as {@link writeOrRefuse} */
export function writeFact(session: Pick<OpenSession, 'log'>, stamp: Stamp, line: WorklogLine): void {
  writeOrRefuse(session, stamp, () => [line], { isFact: true });
}

/** No rule of the log: the line that added a step may be damaged there, and the lines of the step still count. */
function requireSteps({ steps }: Worklog, lines: readonly WorklogLine[]): void {
  for (const line of lines) {
    if (line.event !== 'file' && line.event !== 'log' && line.event !== 'error' && line.event !== 'tokens') continue;
    const { step } = line;
    if (step === undefined || TASK.test(step) || steps.has(step)) continue;
    const known =
      steps.size === 0 ? 'the session has none' : `known: ${[...steps.keys()].slice(0, MOST_NAMED).join(', ')}`;
    throw new RefusedError({ code: 'unknown_step', message: `there is no step ${JSON.stringify(step)} (${known})` });
  }
}
