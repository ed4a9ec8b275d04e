/** How much the unfinished work of a session weighs: which one its next agent, or a person, has to hear of first. */
import type { Progress } from '../fold/state.js';
import type { LooseEnds } from '../observed/looseEnds.js';
import type { AgentCondition, Condition } from './condition.js';

/**
 * The heaviest first. `files_in_doubt`: an agent that crashed or was cut off may have left them half written. `open_turn`: the agent owed
 * an answer. `failed`: its last call failed. `crashed`: it crashed, and owed nothing. `rests`: nothing is unfinished.
 */
export const WEIGHTS = [
  ...(['files_in_doubt', 'open_turn', 'open_steps', 'failed', 'declared', 'crashed', 'rests'] as const),
] as const;
export type Weight = (typeof WEIGHTS)[number];

/** @param progress through its steps, or through the tasks of the agent's own list */
export function weightOf(agent: AgentCondition, progress: Progress, ends: LooseEnds): Weight {
  const isInterrupted = agent === 'crashed' || agent === 'cut_off';
  if ((isInterrupted && ends.files > 0) || ends.abandoned_files > 0) return 'files_in_doubt';
  if (ends.turn) return 'open_turn';
  if (progress.pending > 0) return 'open_steps';
  if (ends.failed) return 'failed';
  if (ends.declared) return 'declared';
  return agent === 'crashed' ? 'crashed' : 'rests';
}

/** @returns whether something is left to do in it */
export function isUnfinished({ weight }: Pick<Condition, 'weight'>): boolean {
  return weight !== 'rests';
}

interface Weighed {
  readonly condition: Pick<Condition, 'weight'>;
  /** UTC epoch milliseconds. */
  readonly last_activity: number | null;
}

/** Orders the heaviest first; of two that weigh the same, the one that was active last. */
export function byWeight(left: Weighed, right: Weighed): number {
  const difference = WEIGHTS.indexOf(left.condition.weight) - WEIGHTS.indexOf(right.condition.weight);
  return difference || (right.last_activity ?? 0) - (left.last_activity ?? 0);
}
