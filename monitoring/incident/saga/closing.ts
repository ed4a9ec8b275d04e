/**
 * The end of an incident whose outcome is decided: its closing line, the note on its issue, and its record. The note is a
 * stored step of its own, retried with growing pauses. The session is free meanwhile, because an unreachable GitHub must not
 * keep its next fault from becoming an incident.
 */
import { type Backoff, pauseAfter } from '../../../src/backoff.js';
import { describeError, WatchkeeperError } from '../../../src/errors.js';
import type { CriticalEventName, Incident, IncidentOutcome, OutcomeNote } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { HOUR, MINUTE } from '../../../src/time.js';
import { logStep, type Progress, type SagaContext, wake } from '../sagaContext.js';
import { eventNameOf, logClosing } from '../texts/incidentEvents.js';
import { hasReportEnded } from './dueReports.js';

/** About four hours with the pauses below. */
const MOST_TRIES = 10;
const BACKOFF: Backoff = { firstMs: MINUTE, longestMs: HOUR };

/**
 * Waits for the report's end. The effects come before the commit: repeating them does no harm, forgetting them would lose them.
 */
export async function closeIncident(
  context: SagaContext,
  incident: Incident,
  session: AgentSession | null,
  outcome: IncidentOutcome,
): Promise<Progress> {
  const { store, clock, folders, logger } = context;
  // The outcome of this one decides what happens to the others.
  if (incident.hold !== undefined) wake(context, incident.hold.incident_id);
  if (!hasReportEnded(incident)) return { waitUntil: null };
  const { note: owed, last_action } = incident;
  if (owed !== undefined && owed.due_at > clock.now()) return { waitUntil: owed.due_at };
  if (owed === undefined) {
    // Only its detection was logged, and exactly one line of an incident says that.
    const action = last_action === 'detected' ? 'suppressed' : last_action;
    await logStep(context, incident, session, {
      step: 'closed',
      event: closingEvent(incident, outcome),
      outcome,
      action,
    });
  }
  const note = await noteOutcome(context, incident);
  if (note !== null) {
    const freed = await store.incidents.free(session, incident, { note }, folders.guard());
    return freed === null ? 'look' : { waitUntil: note.due_at };
  }
  const closed = await store.incidents.close(session, incident, outcome, folders.guard());
  if (closed !== null) logClosing(logger, closed);
  return 'look';
}

/** @returns the event of the closing line */
function closingEvent(incident: Incident, outcome: IncidentOutcome): CriticalEventName {
  if (incident.subject !== undefined) return eventNameOf(incident);
  if (outcome === 'recovered') return 'session_recovered';
  return outcome === 'told' ? 'session_unrecoverable' : 'session_unhealthy';
}

/** @returns what is still to be done, and when; null if it is done, given up, or there is no issue */
async function noteOutcome({ reporter, clock, logger }: SagaContext, incident: Incident): Promise<OutcomeNote | null> {
  // The issue of an outage covers all incidents that it held, at its own end.
  if (incident.report.url === null || incident.hold !== undefined) return null;
  const { incident_id, report } = incident;
  try {
    await reporter.noteOutcome(incident);
    return null;
  } catch (error) {
    const tries = (incident.note?.tries ?? 0) + 1;
    const isHopeless = error instanceof WatchkeeperError && !error.retryable;
    if (isHopeless || tries >= MOST_TRIES) {
      const said = `incident ${incident_id}: its outcome could not be added to ${report.url}, and was given up after ${tries} tries: ${describeError(error)}`;
      logger.error({ err: error, incident_id }, said);
      return null;
    }
    const pauseMs = pauseAfter(tries, BACKOFF);
    logger.warn({ err: error, incident_id, retry_in_ms: pauseMs }, 'the outcome could not be added to the issue yet');
    return { tries, due_at: clock.now() + pauseMs, last_error: describeError(error) };
  }
}
