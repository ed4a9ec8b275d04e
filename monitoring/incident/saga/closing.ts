/** The end of an incident whose outcome is decided: its closing line, the note on its issue, and its record. */
import type { CriticalEventName, Incident, IncidentOutcome } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { type Progress, type SagaContext, writeEvent } from '../sagaContext.js';
import { eventNameOf, incidentEvent } from '../texts/incidentEvents.js';
import { logClosing } from '../texts/incidentLog.js';
import { hasReportEnded } from './dueReports.js';
import { noteOutcome } from './outcomeNote.js';

/**
 * Waits for the report's end. The effects come before the commit: repeating them does no harm, forgetting them would lose them.
 */
export async function closeIncident(
  context: SagaContext,
  incident: Incident,
  session: AgentSession | null,
  outcome: IncidentOutcome,
): Promise<Progress> {
  const { store, clock, agenda, folders } = context;
  // The outcome of this one decides what happens to the others.
  if (incident.hold !== undefined) agenda.driveAt(incident.hold.incident_id, clock.now());
  if (!hasReportEnded(incident)) return { waitUntil: null };
  const { note: owed } = incident;
  if (owed !== undefined && owed.due_at > clock.now()) return { waitUntil: owed.due_at };
  if (owed === undefined) await logEnd(context, incident, session, outcome);
  const note = await noteOutcome(context, incident);
  if (note !== null) {
    const freed = await store.incidents.free(session, incident, { note }, folders.guard());
    return freed === null ? 'look' : { waitUntil: note.due_at };
  }
  const closed = await store.incidents.close(session, incident, outcome, folders.guard());
  if (closed !== null) logClosing(context.logger, closed);
  return 'look';
}

async function logEnd(
  context: SagaContext,
  incident: Incident,
  session: AgentSession | null,
  outcome: IncidentOutcome,
): Promise<void> {
  // Only its detection was logged, and exactly one line of an incident says that.
  const last_action = incident.last_action === 'detected' ? 'suppressed' : incident.last_action;
  const closing = { ...incident, last_action };
  const line = { step: 'closed', event: closingEvent(incident, outcome), now: context.clock.now(), outcome } as const;
  await writeEvent(context, incidentEvent(closing, session, line));
}

/** @returns the event of the closing line */
function closingEvent(incident: Incident, outcome: IncidentOutcome): CriticalEventName {
  if (incident.subject !== undefined) return eventNameOf(incident);
  if (outcome === 'recovered') return 'session_recovered';
  return outcome === 'told' ? 'session_unrecoverable' : 'session_unhealthy';
}
