/** What an end by an answer or by a person changes: the session, its lane, and the final message, all in one commit. */

import { laneBlockWrites } from './blockedLanes.js';
import { laneEntryWrites } from './lanes.js';
import type { AgentSession, OutboxEntry } from './model.js';
import { newOutboxEntry } from './newRecords.js';
import { laneReleaseWrites, outboxWrites, type SessionPatch, type StoreContext, wakeWrite } from './sessionChange.js';

/** The end of a session, with its final message. */
export interface KnownEnd {
  readonly kind: OutboxEntry['kind'];
  readonly text: string;
  /**
   * Whether it may be in the chat already without the store knowing it: then its delivery is in doubt from the beginning, as if
   * its sender had died.
   */
  readonly mayStand: boolean;
}

/** @returns the record's changes for a session that ended so, including the state of its final message */
export function endPatch({ kind, text, mayStand }: KnownEnd) {
  const request = { delivery: mayStand ? 'sending' : 'queued' } as const;
  if (kind === 'answer') return { status: 'completed', end_reason: 'answered', answer: text, request } as const;
  if (kind === 'failure') return { status: 'failed', end_reason: 'store_forgot', request } as const;
  return { status: 'cancelled', end_reason: 'cancelled_by_person', request } as const;
}

/**
 * The bridge of its run starts the lane's next session itself.
 * @param at `isGone` is false if a process of the run may still live: then its lane stays blocked
 * @returns the change by which an active session ends as known; it also reads the next session of the lane
 */
export function endedChange(
  { keys }: StoreContext,
  session: AgentSession,
  known: KnownEnd,
  { isGone, now }: { readonly isGone: boolean; readonly now: number },
) {
  const end = endPatch(known);
  const entry = { ...newOutboxEntry(session, known.kind, known.text, now), state: end.request.delivery };
  return {
    patch: { ...end, ended_at: now, stop: null } as const,
    writes: [
      ...(isGone ? laneReleaseWrites(keys, session, now, { wakes: false }) : laneBlockWrites(keys, session, now)),
      ...outboxWrites(keys, entry),
      wakeWrite(keys, { session: session.session_id }),
    ],
    reads: isGone ? [['LINDEX', keys.lane(session.lane), '0'] as const] : [],
  };
}

/**
 * @param notBefore epoch ms, if something has to end first
 * @returns the change by which an active session goes back to its lane's head and the lane becomes free
 */
export function interruptedChange(
  context: StoreContext,
  session: AgentSession,
  now: number,
  notBefore: number | null = null,
) {
  const patch = {
    status: 'pending',
    run: null,
    stop: null,
    released: null,
    started_at: null,
    interruptions: session.interruptions + 1,
    not_before: notBefore,
  } as const;
  const writes = [...laneReleaseWrites(context.keys, session, now), ...laneEntryWrites(context, session, 'LPUSH')];
  return { patch, writes };
}

/** @returns the change by which an active session ends as cancelled */
export function cancelledChange({ keys }: StoreContext, session: AgentSession, text: string, now: number) {
  return {
    patch: cancelledPatch(now),
    writes: [
      ...laneReleaseWrites(keys, session, now),
      ...outboxWrites(keys, newOutboxEntry(session, 'cancelled', text, now)),
      wakeWrite(keys, { session: session.session_id }),
    ],
  };
}

/** @returns the change by which a waiting session ends as cancelled */
export function withdrawnChange({ keys }: StoreContext, session: AgentSession, text: string, now: number) {
  return {
    patch: cancelledPatch(now),
    writes: [
      ['LREM', keys.lane(session.lane), '0', session.session_id] as const,
      ...outboxWrites(keys, newOutboxEntry(session, 'cancelled', text, now)),
      wakeWrite(keys, { lane: session.lane }),
    ],
  };
}

function cancelledPatch(now: number): SessionPatch {
  return { status: 'cancelled', end_reason: 'cancelled_by_person', ended_at: now, request: { delivery: 'queued' } };
}
