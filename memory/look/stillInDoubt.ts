/** Weighs listed sessions again whose files were in doubt: others may have finished these since. */
import type { Weight, Weighty } from '../condition/weight.js';
import type { Viewer } from '../sessions/views.js';
import { lookAt } from './look.js';
import { inDoubt } from './settledSince.js';

/** Each look may ask git. */
const MOST_LOOKED_AT = 5;

interface Listed extends Weighty {
  readonly id: string;
}

/** @returns the weights that have fallen, by session; the heaviest sessions are looked at */
export async function fallenWeights(memory: Viewer, listed: readonly Listed[]): Promise<ReadonlyMap<string, Weight>> {
  const fallen = new Map<string, Weight>();
  for (const { id, weight: known } of inDoubt(listed).slice(0, MOST_LOOKED_AT)) {
    const session = memory.look(id);
    const weight = session === null ? known : (await lookAt(memory, session)).condition.weight;
    if (weight !== known) fallen.set(id, weight);
  }
  return fallen;
}
