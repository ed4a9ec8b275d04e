/** Writes lines to a session's worklog, all or none as far as the state can say before. */
import { requireFields } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import type { NewLine, Stamp } from '../logs/line.js';
import { RefusedError, type WriteOptions } from '../logs/log.js';
import type { OpenSession } from './sessions.js';

/**
 * @throws UsageError if a field of a line is not as its event wants it; then nothing is written
 * @throws RefusedError with the first reason for which a line was refused
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
    return lines;
  };
  const refusal = log.write(checked, stamp, options).find((outcome) => outcome !== null);
  if (refusal) throw new RefusedError(refusal);
}
