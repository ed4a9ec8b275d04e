/** How much the unfinished work of a session weighs: which one its next agent, or a person, has to hear of first. */
import type { Progress } from '../fold/state.js';
import type { LooseEnds } from '../observed/looseEnds.js';

/**
 * The heaviest first. `files_in_doubt`: an agent that crashed or was cut off may have left them half written. `open_turn`: the agent owed
 * an answer, or a person stopped it at work. `failed`: its last call failed. `taken_up`: an agent that began later has finished its files;
 * whether that was all that was asked cannot be seen. `crashed`: it crashed, and owed nothing. `rests`: nothing is unfinished.
 */
export const WEIGHTS = [
  ...(['files_in_doubt', 'open_turn', 'open_steps', 'failed', 'declared'] as const),
  ...(['taken_up', 'crashed', 'rests'] as const),
] as const;
export type Weight = (typeof WEIGHTS)[number];

/**
 * @param interrupted how its agent was interrupted. Null if it was not
 * @param progress through its steps, or through the tasks of the agent's own list
 */
export function weightOf(interrupted: 'crashed' | 'cut_off' | null, progress: Progress, ends: LooseEnds): Weight {
  if ((interrupted !== null && ends.files > 0) || ends.abandoned_files > 0) return 'files_in_doubt';
  if (ends.turn || ends.stopped) return 'open_turn';
  if (progress.pending > 0) return 'open_steps';
  if (ends.failed) return 'failed';
  if (ends.declared) return 'declared';
  return interrupted === 'crashed' ? 'crashed' : 'rests';
}

/** @returns the weight of a session whose files an agent that began later has finished */
export function weightTakenUp(progress: Progress, ends: LooseEnds): Weight {
  const over = { turn: false, stopped: false, failed: false, files: 0, abandoned_files: 0 };
  const weight = weightOf(null, progress, { ...ends, ...over });
  return weight === 'rests' ? 'taken_up' : weight;
}

/** @returns whether something is left to do in it */
export function isUnfinished({ weight }: { readonly weight: Weight }): boolean {
  return weight !== 'rests';
}

/** @returns whether the next agent is given its record by itself */
export function isToBeReported({ weight }: { readonly weight: Weight }): boolean {
  return isUnfinished({ weight }) && weight !== 'taken_up';
}

/** @returns for a reader who means one without naming it: those that are to be told, or all if there are none */
export function meantFirst<One extends { readonly weight: Weight }>(sessions: readonly One[]): readonly One[] {
  const told = sessions.filter(isToBeReported);
  return told.length > 0 ? told : sessions;
}

/** Work that can be weighed against other work. */
export interface Weighty {
  readonly weight: Weight;
  /** UTC epoch milliseconds. */
  readonly last_activity: number | null;
}

/** Orders the heaviest first; of two that weigh the same, the one that was active last. */
export function byWeight(left: Weighty, right: Weighty): number {
  const difference = WEIGHTS.indexOf(left.weight) - WEIGHTS.indexOf(right.weight);
  return difference || (right.last_activity ?? 0) - (left.last_activity ?? 0);
}
