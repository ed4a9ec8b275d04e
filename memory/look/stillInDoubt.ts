/** Weighs listed sessions again on which others may have worked since that was noted: they finish files, and may take that back. */
import { byWeight, type Weight, type Weighty } from '../condition/weight.js';
import type { Viewer } from '../sessions/views.js';
import type { LeftSession } from '../workspaces/log.js';
import { lookAt } from './look.js';

/** Each look may ask git. */
const MOST_LOOKED_AT = 5;

interface Listed extends Weighty {
  readonly id: string;
}

/**
 * @param left what is noted of each session
 * @returns those whose weight others may have changed since it was noted, the heaviest first
 */
export function mayHaveChanged<One extends Listed>(
  weighed: readonly One[],
  left: ReadonlyMap<string, LeftSession>,
): One[] {
  const isOthers = ({ id, weight }: One) =>
    weight === 'files_in_doubt' || weight === 'taken_up' || left.get(id)?.by !== undefined;
  return weighed.filter(isOthers).sort(byWeight);
}

/** @returns the weights that have changed, by session; the heaviest sessions are looked at */
export async function changedWeights(
  memory: Viewer,
  listed: readonly Listed[],
  left: ReadonlyMap<string, LeftSession>,
): Promise<ReadonlyMap<string, Weight>> {
  const changed = new Map<string, Weight>();
  for (const { id, weight: known } of mayHaveChanged(listed, left).slice(0, MOST_LOOKED_AT)) {
    const session = memory.look(id);
    const weight = session === null ? known : (await lookAt(memory, session)).condition.weight;
    if (weight !== known) changed.set(id, weight);
  }
  return changed;
}
