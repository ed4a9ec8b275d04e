/**
 * Failures that pass by themselves: a limit with a known end, a provider that is busy or cannot be reached, a host that has too
 * little of something to start an agent. The message did nothing wrong, so it waits at its lane's head, and no attempt is spent.
 */

import type { Settings } from '../../src/config/settings.js';
import type { AgentSession, DeathProof, PassingWait } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import { type Backoff, type Clock, DAY, isoTime, pauseAfter } from '../../src/time.js';
import type { AgentEnd } from '../agents/program/contract.js';

/** If it ends later than this, the chat is notified instead: the person will have given up by then. */
const LONGEST_WAIT_MS = DAY;
/** With the default pauses, an hour and a quarter in all. */
const MOST_WAITS = 12;
/** The longest pause, as a multiple of the first one. */
const GROWTH = 40;

const LACKING = {
  provider: 'its provider is busy or unreachable',
  host: 'this host had too few processes, files or memory to start its agent',
} as const;

type Failure = Extract<AgentEnd, { kind: 'failed' }>;

interface WaitContext {
  readonly store: Pick<Store, 'transitions'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Pick<Settings, 'timings'>;
}

interface RunThatEnded {
  readonly sessionId: string;
  readonly runId: string;
  readonly end: AgentEnd;
  readonly proof: DeathProof | null;
}

interface FailedRun extends RunThatEnded {
  readonly end: Failure;
  readonly proof: DeathProof;
}

/** @returns whether the message now waits until the cause of its run's failure has passed */
export async function isPutBackToWait(
  context: WaitContext,
  { sessionId, runId, end, proof }: RunThatEnded,
): Promise<boolean> {
  if (end.kind !== 'failed' || proof === null) return false;
  if (end.until !== undefined && end.until - context.clock.now() > LONGEST_WAIT_MS) return false;
  if (end.cause === 'rate_limit') return isPutBackForLimit(context, { sessionId, runId, end, proof });
  if (end.cause === 'provider_unavailable') return isPutBack(context, { sessionId, end, proof }, 'provider');
  if (end.cause === 'host_exhausted') return isPutBack(context, { sessionId, end, proof }, 'host');
  return false;
}

/** A second attempt right away would meet the limit again. A limit without a known end is reported to the chat. */
async function isPutBackForLimit(
  { store, clock, logger }: WaitContext,
  { sessionId, runId, end, proof }: FailedRun,
): Promise<boolean> {
  if (end.until === undefined) return false;
  const until = Math.max(end.until, clock.now());
  if ((await store.transitions.interrupt(sessionId, runId, proof, until)) === null) return false;
  const said = `session ${sessionId}: its provider's limit ends at ${isoTime(until)}; it is run again then`;
  logger.info({ session_id: sessionId, not_before: until }, said);
  return true;
}

/** The pauses grow, so that a service in trouble is not asked by every message every few seconds. */
async function isPutBack(
  { store, clock, logger, settings }: WaitContext,
  { sessionId, end, proof }: Omit<FailedRun, 'runId'>,
  waitsFor: PassingWait['for'],
): Promise<boolean> {
  const { providerPauseMs: firstMs } = settings.timings;
  const pauses: Backoff = { firstMs, longestMs: GROWTH * firstMs };
  const session = await store.transitions.putBackToWait(sessionId, proof, ({ wait }: AgentSession) => {
    const times = wait?.for === waitsFor ? wait.times + 1 : 1;
    if (times > MOST_WAITS) return null;
    const notBefore = Math.max(clock.now() + pauseAfter(times, pauses), end.until ?? 0);
    return { wait: { for: waitsFor, times }, notBefore };
  });
  if (session === null) return false;
  const { wait, not_before } = session;
  const said = `session ${sessionId}: ${LACKING[waitsFor]}; it is run again at ${isoTime(not_before ?? 0)} (wait ${wait?.times} of ${MOST_WAITS}), which costs no attempt`;
  logger.info({ session_id: sessionId, not_before }, said);
  return true;
}
