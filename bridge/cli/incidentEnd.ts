import type { Incident } from '../../src/jobs/incidents.js';
import type { AgentSession } from '../../src/jobs/model.js';

/**
 * A revival counts as recovered at its first successful call (the design, §6), so its incident may be closed as recovered
 * though nobody ever got an answer.
 * @param revival the second attempt, null if there is none or its record is gone
 * @returns how it ended after its incident was closed as recovered, as a clause; null if that adds nothing
 */
export function laterEnd({ outcome }: Pick<Incident, 'outcome'>, revival: AgentSession | null): string | null {
  if (outcome !== 'recovered' || revival === null) return null;
  if (revival.status === 'cancelled') return 'the second attempt was cancelled later, without an answer';
  return revival.status === 'failed'
    ? 'the second attempt was at work again, but failed later, without an answer'
    : null;
}
