/** The readers of a context, and how much of the record each needs. */
import type { MemorySettings } from '../../src/config/memorySettings.js';

export type ContextLevel = keyof MemorySettings['context'];

/** Entries and calls, the last ones. */
export const MOST_ACTIONS: Readonly<Record<ContextLevel, number>> = {
  root: 5,
  compacted: 0,
  resumed: 0,
  delegated: 0,
  resumed_delegated: 0,
  revival: 10,
};

/** Each context also has the purpose, the next step, and how the session's agent or run ended. */
export type Part =
  /** When it began and was last active, its lifecycle. */
  | 'times'
  | 'framework'
  /** The last prompt, if the session is about something else now than at its beginning. */
  | 'subject'
  /** How its directory has changed. */
  | 'place'
  /** Its last turn: the last words, open calls, the last entries and calls, what it cost. */
  | 'turn'
  | 'files_in_doubt'
  | 'files_in_progress'
  | 'changed_files'
  | 'steps'
  | 'open_steps'
  | 'errors'
  | 'repeated_errors'
  | 'notes'
  | 'top_notes'
  | 'critical_notes'
  | 'checkpoint'
  /** Changes while it rested. */
  | 'changes'
  /** How a person resumes it. */
  | 'way_to_resume';

/** A new agent gets all of it. An agent with a history gets what that lacks. */
const WHOLE: readonly Part[] = [
  ...(['times', 'framework', 'place', 'turn', 'files_in_doubt', 'changed_files', 'steps', 'errors', 'notes'] as const),
];
const PARTS: Readonly<Record<ContextLevel, readonly Part[]>> = {
  root: [...WHOLE, 'way_to_resume'],
  compacted: ['subject', 'files_in_progress', 'open_steps', 'notes', 'checkpoint', 'repeated_errors'],
  resumed: ['times', 'place', 'top_notes', 'changes'],
  delegated: ['subject', 'critical_notes'],
  resumed_delegated: ['subject', 'place'],
  revival: WHOLE,
};

export function holds(level: ContextLevel, ...parts: readonly Part[]): boolean {
  return parts.some((part) => PARTS[level].includes(part));
}
