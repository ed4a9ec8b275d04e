/** Writes lines to a session's worklog, all or none as far as the state can say before. */
import type { Worklog } from '../fold/worklog.js';
import type { NewLine, Stamp } from '../logs/line.js';
import { RefusedError } from '../logs/log.js';
import type { OpenSession } from './sessions.js';

/** @throws RefusedError with the first reason for which a line was refused */
export function writeOrRefuse(
  { log }: Pick<OpenSession, 'log'>,
  stamp: Stamp,
  decide: (state: Worklog) => readonly NewLine[],
): void {
  const refusal = log.write(decide, stamp).find((outcome) => outcome !== null);
  if (refusal) throw new RefusedError(refusal);
}
