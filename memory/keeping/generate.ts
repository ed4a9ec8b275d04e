/** The contents of the generated files of a session, made from the worklog and the kept copy, never from one another. */
import type { LogCounts } from '../logs/reader.js';
import { type CombinedState, combinedState } from '../observed/combined.js';
import type { Observed } from '../observed/observed.js';
import { observeKept } from '../observed/sources.js';
import type { OpenSession } from '../sessions/sessions.js';
import { keptBytes } from '../sessions/stateFile.js';
import type { Viewer } from '../sessions/views.js';
import { sessionText } from './sessionText.js';

export interface Generated {
  readonly state: CombinedState & { readonly log: Omit<LogCounts, 'newer'>; readonly kept: number };
  /** The text of `session.md`. */
  readonly text: string;
  readonly fold: Observed | null;
}

/** @returns the same for the same worklog and the same kept copy; what only a live transcript shows is not in it */
export async function generate(
  memory: Viewer,
  { folder, log: { state: log, at, counts } }: OpenSession,
): Promise<Generated> {
  // Looked at first: more may be added while it is read.
  const kept = keptBytes(folder) ?? 0;
  const observed = await observeKept({ log, folder, workspace: memory.workspaceOf(log) }, true);
  const combined = combinedState(log, at, observed);
  const { newer: _, ...lines } = counts;
  return {
    state: { ...combined, log: lines, kept },
    text: sessionText(log, combined, observed.fold),
    fold: observed.fold,
  };
}
