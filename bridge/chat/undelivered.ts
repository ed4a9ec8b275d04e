/**
 * A critical event for a final message that did not arrive, or may not have. For a failure message of an incident, the
 * incident's own lines say it.
 */
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import type { AgentSession, OutboxEntry } from '../../src/jobs/model.js';
import type { Logger } from '../../src/log/logger.js';
import { type Clock, isoTime } from '../../src/time.js';

export interface Undelivered {
  readonly events: { logCriticalEvent(event: CriticalEvent): Promise<void> };
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Await it before storing the end: a repetition has the same id, but a forgotten event would be lost. Never throws.
 * @param entry as it is about to be stored: its state is `unknown` or `given_up`
 */
export async function logUndelivered(
  { events, clock, logger }: Undelivered,
  entry: OutboxEntry,
  session: AgentSession | null,
): Promise<void> {
  if (entry.kind === 'failure' && session !== null && session.incident_id !== null) return;
  const incidentId = `undelivered-${entry.session_id}`;
  const event: CriticalEvent = {
    v: 1,
    id: `${incidentId}.detected`,
    incident_id: incidentId,
    final: true,
    timestamp: isoTime(clock.now()),
    event: 'message_undelivered',
    session_id: entry.session_id,
    project_key: session?.project_key ?? null,
    reason: `${entry.kind}_${entry.state}`,
    rule: null,
    action_taken: 'detected',
    github_issue: null,
    details: { chat_id: entry.chat_id, tries: entry.tries, last_error: entry.last_error },
  };
  await events
    .logCriticalEvent(event)
    .catch((err: unknown) => logger.error({ err, event }, `critical event ${event.id} could not be written`));
}
