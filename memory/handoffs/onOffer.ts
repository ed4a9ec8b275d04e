/** The handoffs that wait for a worker in a directory. */
import { repositoryOf } from '../git/history.js';
import type { Memory } from '../sessions/memory.js';
import { type Handoff, Handoffs } from './handoffs.js';

/** An agent waits for them. */
const MOST_READ = 50;

type Here = Pick<Memory, 'places' | 'stamp' | 'workspace'>;

/** @returns whether it was written in the caller's workspace, or in another worktree of its repository */
export function isOfHere({ workspace }: Pick<Memory, 'workspace'>): (handoff: Handoff) => boolean {
  const repository = repositoryOf(workspace.root);
  return ({ state: { offer } }) =>
    offer.workspace === workspace.id || (repository !== null && offer.repository === repository);
}

/**
 * @param reader the session of the agent that is to hear of them: an author does not hear of its own
 * @returns those of this repository that are on offer, the newest first
 */
export function onOfferTo(memory: Here, reader: string): Handoff[] {
  const handoffs = new Handoffs(memory);
  const ids = handoffs.ids();
  if (ids.length === 0) return [];
  const isHere = isOfHere(memory);
  return ids
    .slice(0, MOST_READ)
    .flatMap((id) => handoffs.read(id) ?? [])
    .filter((handoff) => {
      const { offer, answer } = handoff.state;
      return answer === null && offer.session_id !== reader && isHere(handoff);
    });
}
