/** The start of a run: it takes the session in the store, unless another process was faster or the session has ended. */
import { nullIfUnreadable } from '../../src/errors.js';
import { acceptedAt } from '../../src/jobs/acceptedAt.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { AnsweredSession } from '../../src/jobs/transitions.js';
import type { KnownRun } from './knownRun.js';
import type { RunContext } from './runContext.js';

export interface BegunRun {
  readonly session: AgentSession;
  /** The provider's conversation id, if the run continues an earlier conversation. */
  readonly conversationId: string | null;
  /** Start of the run's lease, on the monotonic clock. */
  readonly leaseSince: number;
  /** When its message was accepted, epoch milliseconds. */
  readonly acceptedAt: number;
}

/** After a lost reply the session is ours already. @returns null if it is not this run's @throws ioredis' error */
export async function beginRun(context: RunContext, known: KnownRun): Promise<BegunRun | null> {
  const { store, clock, settings } = context;
  const { runLeaseMs } = settings.timings;
  const { records, transitions } = store;
  const leaseSince = clock.monotonic();
  const messageAt = await acceptedAt(records, known.session);
  const started = await transitions.start(known.session, known.run, runLeaseMs);
  if (started !== null) return { ...started, leaseSince, acceptedAt: messageAt };
  // The lane's next check sets an unreadable one aside, and reports it.
  const current = await records.session(known.session.session_id).catch(nullIfUnreadable);
  if (current === null) await waitAgain(context, known.session);
  else if (current.status === 'pending') context.waiting.keep(current);
  // It was changed, deleted or damaged since it was read, possibly without a wake.
  if (current?.status !== 'active') void context.lanes.startNext(known.session.lane);
  if (current?.status !== 'active' || current.run?.run_id !== known.runId) return null;
  const conversationId = await records.conversationId(current.conversation_key, context.here.host);
  const isHeld = await transitions.renewLease(current, runLeaseMs, clock.now());
  return isHeld ? { session: current, conversationId, leaseSince, acceptedAt: messageAt } : null;
}

/** The disk may know of an end that the store forgot. @returns null if the message had no end @throws ioredis' error */
export async function endedBefore(
  { store, endOnDisk }: RunContext,
  session: AgentSession,
  runId: string,
): Promise<Pick<AnsweredSession, 'next'> | null> {
  const end = await endOnDisk(session);
  if (end === null) return null;
  // If the session was changed first, nothing is begun either: the watchdog finds it, and asks as well.
  return (await store.transitions.endForgotten(session.session_id, runId, end)) ?? { next: null };
}

/** The store has forgotten that the session waits. */
async function waitAgain({ store, forgotten }: RunContext, session: AgentSession): Promise<void> {
  if (await store.regain.waiting(session)) forgotten.note(session.session_id);
}
