/** The changes of an end by an answer or by a person: the session, its lane, and the final message, all in one commit. */

import { laneBlockWrites, laneEntryWrites } from './lanes.js';
import type { AgentSession, OutboxEntry, PassingWait } from './model.js';
import { newOutboxEntry } from './newRecords.js';
import { laneReleaseWrites, outboxWrites, wakeWrite } from './sessionChange.js';
import type { StoreContext } from './storePart.js';

export interface KnownEnd {
  readonly kind: OutboxEntry['kind'];
  readonly text: string;
  /** Whether it may be in the chat without the store knowing it: then its delivery is in doubt from the beginning. */
  readonly mayBeInChat: boolean;
}

/** Why, and until when, a session waits for a failure to pass. */
export interface ChosenWait {
  readonly wait: PassingWait;
  /** Epoch milliseconds. */
  readonly notBefore: number;
}

/** The outcome of the session's incident by the kind of the final message that was found. */
export const OUTCOME_OF = { answer: 'answered', failure: 'told', cancelled: 'cancelled_by_person' } as const;

/** @returns the record's changes for a session that ended so, including the state of its final message */
export function endPatch({ kind, text, mayBeInChat }: KnownEnd) {
  const request = { delivery: mayBeInChat ? 'sending' : 'queued' } as const;
  if (kind === 'answer') return { status: 'completed', end_reason: 'answered', answer: text, request } as const;
  if (kind === 'failure') return { status: 'failed', end_reason: 'store_forgot', request } as const;
  return { status: 'cancelled', end_reason: 'cancelled_by_person', request } as const;
}

/** The run's bridge starts the lane's next session itself. @param isGone false keeps the lane blocked: a process may live */
export function endedChange({ keys, clock }: StoreContext, session: AgentSession, known: KnownEnd, isGone: boolean) {
  const now = clock.now();
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

/** Puts an active session back at its lane's head. @param notBefore epoch ms, if something has to end first */
export function interruptedChange(context: StoreContext, session: AgentSession, notBefore: number | null = null) {
  const patch = {
    status: 'pending',
    run: null,
    stop: null,
    released: null,
    started_at: null,
    interruptions: session.interruptions + 1,
    not_before: notBefore,
    wait: null,
  } as const;
  const freed = laneReleaseWrites(context.keys, session, context.clock.now());
  return { patch, writes: [...freed, ...laneEntryWrites(context, session, 'LPUSH')] };
}

/** @returns as {@link interruptedChange}, for a failure that passes: it is no interruption */
export function waitingChange(context: StoreContext, session: AgentSession, { wait, notBefore }: ChosenWait) {
  const { interruptions } = session;
  const { patch, writes } = interruptedChange(context, session, notBefore);
  return { patch: { ...patch, interruptions, wait }, writes };
}

/** @returns the change that ends a session as cancelled: a waiting one leaves its lane, an active one frees it */
export function cancelledChange(
  { keys, clock }: StoreContext,
  session: AgentSession,
  text: string,
  isQuiet = session.stop?.quiet === true,
) {
  const { session_id, lane } = session;
  const now = clock.now();
  const isWaiting = session.status === 'pending';
  const left = [['LREM', keys.lane(lane), '0', session_id] as const, wakeWrite(keys, { lane })];
  return {
    patch: {
      status: 'cancelled',
      end_reason: 'cancelled_by_person',
      ended_at: now,
      request: { delivery: 'queued' },
    } as const,
    writes: [
      ...(isWaiting ? left : laneReleaseWrites(keys, session, now)),
      ...outboxWrites(keys, { ...newOutboxEntry(session, 'cancelled', text, now), ...(isQuiet && { quiet: true }) }),
      ...(isWaiting ? [] : [wakeWrite(keys, { session: session_id })]),
    ],
  };
}
