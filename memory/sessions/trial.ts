/** Tries lines that belong together before they are written: once in the log, the others would stay although one is refused. */
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { RefusedError } from '../logs/kind.js';
import { type Stamp, stampLine } from '../logs/line.js';

/** @returns a copy of a state for trying lines. A rule changes no step but the one that its line names: the copy shares the others */
export function copyFor({ steps, ...rest }: Worklog, lines: readonly WorklogLine[]): Worklog {
  const copies = new Map(steps);
  for (const line of lines) {
    const id = 'step' in line && typeof line.step === 'string' ? line.step : null;
    const step = id === null ? undefined : steps.get(id);
    if (step !== undefined) copies.set(step.id, structuredClone(step));
  }
  return { ...structuredClone(rest), steps: copies };
}

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
