/** What follows the fork: a revival is watched until it works or ends, a failure message until it has arrived. */
import type { Incident } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { decide, logStep, type Progress, type SagaContext, save, saveAndLook } from '../sagaContext.js';
import { progressText } from '../texts/chatTexts.js';
import { logRevival } from '../texts/incidentEvents.js';

/** `revived`: the event, the message to the chat and the job come first, each harmless when repeated. */
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
  const { status, incident_id, session_id } = revival;
  if (status === 'failed' || status === 'cancelled') return decide(context, incident, `revival_${status}`);
  // A revival that is itself accused has not recovered, whatever it did before.
  const hasRecovered = status === 'completed' || (incident_id === null && (await context.hasWorked(session_id)));
  return hasRecovered ? decide(context, incident, 'recovered') : { waitUntil: null };
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
