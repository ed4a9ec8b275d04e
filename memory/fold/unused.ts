/** Whether anything was done in a session that began by itself. */

import { LOST } from '../words.js';
import type { Worklog } from './worklog.js';

export function isUndeclared({ steps, files, notes, log, errors, checkpoints, children }: Worklog): boolean {
  return steps.size + files.size + notes.length + log.length + errors.length + checkpoints.size + children.size === 0;
}

/** @returns whether the session began by itself, when a conversation was met that no session had */
export function isImplicit({ facts, lifecycle }: Worklog): boolean {
  return facts !== null && !facts.explicit && lifecycle !== 'ended';
}

/**
 * Without a transcript, and without any other sign, a program that has ended by itself was never asked anything.
 * @param log of a session that shows nothing of its work
 * @returns whether something may have been asked: there was a transcript, or another sign of work; its program kept none, or was killed
 */
export function mayHaveBeenAsked({ kept, conversations, runs, wasAsked }: Worklog): boolean {
  const isUnrecorded = conversations.some(({ unrecorded, moved_at }) => unrecorded === true && moved_at === null);
  return kept?.removed === true || isUnrecorded || wasAsked || runs.some(({ reason }) => reason === LOST);
}

/**
 * @param seen of its share of the conversation. Null if nothing was
 * @param isUnseen no source could have shown anything
 * @returns whether it began by itself, and nothing was asked or declared in it
 */
export function isUnused(
  log: Worklog,
  seen: { readonly prompts: number; readonly isTurnOpen: boolean; readonly actions: readonly unknown[] } | null,
  isUnseen = false,
): boolean {
  if (!isImplicit(log) || !isUndeclared(log) || log.facts?.purpose) return false;
  if (log.runs.some(({ published }) => published === 'left')) return false;
  if (seen === null) return isUnseen ? !mayHaveBeenAsked(log) : log.kept?.removed !== true;
  // The calls of one that continues an ended session may be the end of that one's last turn.
  const hasCalled = log.facts?.continues == null && seen.actions.length > 0;
  return seen.prompts === 0 && !seen.isTurnOpen && !hasCalled;
}
