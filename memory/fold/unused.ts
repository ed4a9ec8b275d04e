/** Whether anything was done in a session that began by itself. */
import type { Worklog } from './worklog.js';

export function isUndeclared({ steps, files, notes, log, errors, checkpoints, children }: Worklog): boolean {
  return steps.size + files.size + notes.length + log.length + errors.length + checkpoints.size + children.size === 0;
}

/** @returns whether the session began by itself, when a conversation was met that no session had */
export function isImplicit({ facts, lifecycle }: Worklog): boolean {
  return facts !== null && !facts.explicit && lifecycle !== 'ended';
}

/**
 * @param seen of its share of the conversation. Null if nothing was
 * @returns whether it began by itself, and nothing was asked or declared in it
 */
export function isUnused(
  log: Worklog,
  seen: { readonly prompts: number; readonly isTurnOpen: boolean; readonly actions: readonly unknown[] } | null,
): boolean {
  if (!isImplicit(log) || !isUndeclared(log) || log.facts?.purpose) return false;
  if (log.runs.some(({ published }) => published === 'left')) return false;
  // Its transcripts were removed because of their age.
  if (seen === null) return log.kept?.removed !== true;
  // The calls of one that continues an ended session may be the end of that one's last turn.
  const hasCalled = log.facts?.continues == null && seen.actions.length > 0;
  return seen.prompts === 0 && !seen.isTurnOpen && !hasCalled;
}
