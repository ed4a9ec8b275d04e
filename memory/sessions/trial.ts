/** Tries lines that belong together before they are written: once in the log, the others would stay although one is refused. */
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { RefusedError } from '../logs/kind.js';
import { type Stamp, stampLine } from '../logs/line.js';

/**
 * @param trial takes the lines in their order: a new state, or a copy of one
 * @throws RefusedError for the first line that is refused
 */
export function requireLegal(trial: Worklog, lines: readonly WorklogLine[], stamp: Stamp): void {
  for (const line of lines) {
    const refusal = worklogKind.apply(trial, stampLine({ ...worklogKind.common?.(trial), ...line }, stamp));
    if (refusal !== null) throw new RefusedError(refusal);
  }
}
