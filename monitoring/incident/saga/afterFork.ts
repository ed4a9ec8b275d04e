/**
 * The steps after the fork: a revival is watched until it ends, a failure message until it has arrived. Then the incident closes:
 * its closing line, the note on its issue, and its record. The note is a stored step of its own, retried with growing pauses. The
 * session is free in the meantime, because an unreachable GitHub must not keep its next fault from becoming an incident.
 */

import { describeError, WatchkeeperError } from '../../../src/errors.js';
import type { CriticalEventName, Incident, IncidentOutcome, OutcomeNote } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { type Backoff, HOUR, isAhead, MINUTE, pauseAfter } from '../../../src/time.js';
import {
  decide,
  logStep,
  type Progress,
  RefusedError,
  type SagaContext,
  save,
  saveAndLook,
  wake,
} from '../sagaContext.js';
import { progressText } from '../texts/chatTexts.js';
import { eventNameOf, logClosing, logRevival } from '../texts/incidentEvents.js';
import { hasReportEnded } from './dueReports.js';

/** About four hours with the pauses below. */
const MOST_TRIES = 10;
const BACKOFF: Backoff = { firstMs: MINUTE, longestMs: HOUR };

/** `revived`: each effect is harmless when repeated. Only an answer is a recovery: it may hang where the first attempt did. */
export async function followRevival(
  context: SagaContext,
  incident: Incident,
  session: AgentSession | null,
): Promise<Progress> {
  const { store, queue, chat, logger } = context;
  if (incident.last_action !== 'revival_attempted') {
    const action = 'revival_attempted';
    await logStep(context, incident, session, { step: 'revived', event: 'session_unhealthy', action });
    if ((await save(context, incident, { last_action: action })) === null) return 'look';
    logRevival(logger, incident);
    if (incident.revival_session_id !== null) {
      await chat.showProgress(incident.revival_session_id, progressText(incident));
    }
    await queue.pump();
    return 'look';
  }
  const revival = await store.records.session(incident.revival_session_id ?? '');
  if (revival === null) return decide(context, incident, 'revival_gone');
  const { status, session_id } = revival;
  if (status === 'completed') return decide(context, incident, 'recovered');
  if (status === 'failed' || status === 'cancelled') return decide(context, incident, `revival_${status}`);
  // The other messages of an outage need not wait for a whole answer.
  if (incident.hold !== undefined && (await context.hasWorked(session_id))) wake(context, incident.hold.incident_id);
  if (status === 'active') await noteThatItRuns(context, incident);
  return { waitUntil: null };
}

/** Tried once: the incident's end rewrites the issue anyway. The text alone is changed, because people need no mail about it. */
async function noteThatItRuns(context: SagaContext, incident: Incident): Promise<void> {
  if (!hasReportEnded(incident) || !hasIssueOfItsOwn(incident) || incident.is_running_noted) return;
  const { incident_id } = incident;
  try {
    await context.reporter.noteOutcome({ ...incident, is_running_noted: true });
  } catch (error) {
    if (!(error instanceof WatchkeeperError)) throw error;
    const said = `incident ${incident_id}: its issue does not show that the second attempt runs: ${describeError(error)}`;
    context.logger.info({ err: error, incident_id }, said);
  }
  await save(context, incident, { is_running_noted: true });
}

/** `told`: the failure message is being sent, and its outcome is noted. */
export async function followMessage(
  context: SagaContext,
  incident: Incident,
  session: AgentSession | null,
): Promise<Progress> {
  const { store, chat } = context;
  if (incident.last_action.startsWith('failure_message_')) return decide(context, incident, 'told');
  // Without its record it is unknown whether it arrived; it must not be sent a second time.
  const isGone = (await store.records.outboxEntry(incident.session_id)) === null;
  const state = isGone ? 'unknown' : await chat.deliver(incident.session_id);
  if (state === 'queued' || state === 'sending') return { waitUntil: null };
  const action = `failure_message_${state}` as const;
  await logStep(context, incident, session, { step: 'told', event: 'session_unrecoverable', action });
  return saveAndLook(context, incident, { last_action: action });
}

/**
 * Waits for the report's end. The effects come before the commit: repeating them does no harm, forgetting them would lose them.
 */
export async function closeIncident(
  context: SagaContext,
  incident: Incident,
  session: AgentSession | null,
  outcome: IncidentOutcome,
): Promise<Progress> {
  const { store, clock, folders, logger, refusedTries } = context;
  // The outcome of this one decides what happens to the others.
  if (incident.hold !== undefined) wake(context, incident.hold.incident_id);
  if (!hasReportEnded(incident)) return { waitUntil: null };
  const { note: owed, last_action } = incident;
  const isNewTry = owed?.refused === true && refusedTries.isNew(incident.incident_id);
  if (owed !== undefined && !isNewTry && isAhead(owed.due_at, pauseAfter(owed.tries, BACKOFF), clock.now()))
    return { waitUntil: owed.due_at };
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

function closingEvent(incident: Incident, outcome: IncidentOutcome): CriticalEventName {
  if (incident.subject !== undefined) return eventNameOf(incident);
  if (outcome === 'recovered') return 'session_recovered';
  return outcome === 'told' ? 'session_unrecoverable' : 'session_unhealthy';
}

/** @returns the note that is still owed, and when it is due; null if it is written, given up, or there is no issue */
async function noteOutcome(
  { reporter, clock, logger, refusedTries }: SagaContext,
  incident: Incident,
): Promise<OutcomeNote | null> {
  const { incident_id, report } = incident;
  if (!hasIssueOfItsOwn(incident)) return null;
  refusedTries.note(incident_id);
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
    const refused = error instanceof RefusedError ? ({ refused: true } as const) : {};
    return { tries, due_at: clock.now() + pauseMs, last_error: describeError(error), ...refused };
  }
}

/** The issue of an outage covers all incidents that it held, at its own end. */
function hasIssueOfItsOwn({ report, hold }: Incident): boolean {
  return report.url !== null && hold === undefined;
}
