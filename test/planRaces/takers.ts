/** Two agents accept one handoff at once. */
import type { Agent } from './agent.js';

export interface Taken {
  readonly races: number;
  /** With exactly one winner. */
  readonly won: number;
}

/** @param agents without a session: each is known by its process alone */
export async function raceTakers(agents: readonly Agent[], races: number): Promise<Taken> {
  let won = 0;
  for (let race = 0; race < races; race += 1) {
    const offered = await agents[0]?.call('create_handoff', {
      ...{ title: `Handoff ${race}`, learnings: ['a'], next: ['b'] },
    });
    const asked = { id: offered?.value.handoff_id, as: 'follow' };
    const answers = await Promise.all(agents.map((agent) => agent.call('accept_handoff', asked)));
    if (answers.filter(({ isError }) => !isError).length === 1) won += 1;
  }
  return { races, won };
}
