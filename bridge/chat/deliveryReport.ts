/** Every chat's report of a final message: the wait for it, a log line at its end, a critical event if it did not arrive. */

import { noticeEvent } from '../../monitoring/events/notice.js';
import { agentOf } from '../../monitoring/incident/texts/incidentEvents.js';
import type { AgentSession, OutboxEntry } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import { describeDuration } from '../../src/time.js';
import type { ChatFoundation } from './foundation.js';

const NAMES = { answer: 'answer', failure: 'failure message', cancelled: 'word of the cancellation' } as const;

/** @returns milliseconds, null if unknown: a second attempt answers the first one's message */
export async function waitedMs(
  { records }: Store,
  entry: OutboxEntry,
  session: AgentSession | null,
  clockMovedMs = 0,
): Promise<number | null> {
  if (session === null) return null;
  const { revival_of: firstId, created_at: createdAt } = session;
  const first = firstId === null ? null : await records.session(firstId).catch(() => null);
  return Math.max(entry.created_at - (first?.created_at ?? createdAt) - clockMovedMs, 0);
}

/** @param entry as stored: its state is `sent`, `unknown` or `given_up` */
export function logDelivery(logger: Logger, entry: OutboxEntry, now: number): void {
  const { session_id, kind, state, chat_id, tries, last_error: reason } = entry;
  const took_ms = Math.max(now - entry.created_at, 0);
  const fields = { session_id, kind, state, chat_id, tries, took_ms };
  const what = `session ${session_id}: ${NAMES[kind]}`;
  if (state === 'sent') {
    logger.info(fields, `${what} delivered after ${describeDuration(took_ms)}`);
    return;
  }
  const how = state === 'unknown' ? 'given up; the chat may or may not have received it' : 'given up';
  logger.error({ ...fields, reason }, `${what} ${how}; \`watchkeeper session ${session_id}\` shows it`);
}

/**
 * Writes a critical event for a final message that did not arrive, or may not have. For a failure message of an incident, the
 * incident's own lines say it.
 *
 * Await it before storing the end: a repetition has the same id, but a forgotten event would be lost. Never throws.
 * @param entry as it is about to be stored: its state is `unknown` or `given_up`
 */
export async function logUndelivered(
  { events, clock, logger }: ChatFoundation,
  entry: OutboxEntry,
  session: AgentSession | null,
): Promise<void> {
  if (entry.kind === 'failure' && session !== null && session.incident_id !== null) return;
  const { session_id, kind, state, chat_id, tries, last_error } = entry;
  const incident_id = `undelivered-${session_id}`;
  const about = { session_id, project_key: session?.project_key ?? null, reason: `${kind}_${state}` };
  const details = { chat_id, tries, last_error };
  const once = { step: 'detected', final: true, event: 'message_undelivered' } as const;
  const what = session === null ? {} : { agent: agentOf(session), asked: session.request.message_text };
  const event = noticeEvent({ incident_id, ...once, ...about, ...what, details }, clock.now());
  await events
    .logCriticalEvent(event)
    .catch((err: unknown) => logger.error({ err, event }, `critical event ${event.id} could not be written`));
}
