/**
 * Stores the end of a run. Safe to repeat: every transition refuses what has happened already.
 *
 * | the agent | requested before | stored |
 * |---|---|---|
 * | answered | anything | the answer, unless the run was released before |
 * | failed | nothing | an incident with the rule `crash`, then the release |
 * | failed for a limit with a known end | nothing, or the bridge's own stop | back at its lane's head until then; a crash after too many times |
 * | failed for a busy provider | the same | back at its lane's head for a while that grows; a crash after too many times |
 * | any | a person's cancellation | release and cancellation; an incident that acts cancels by itself |
 * | any | an incident's stop | the release: the incident continues from there |
 * | failed | nothing, and the bridge is being stopped | as stopped by the bridge's own stop |
 * | stopped | the bridge's own stop | back at its lane's head; a crash after too many times |
 * | stopped | the same, and an incident acts | the release: the incident continues from there |
 * | any | the lane is another run's | nothing: others have decided |
 *
 * An answer is stored and sent even if a process of the run could not be ended. Its lane is then blocked until the rest is
 * proven dead: another agent must not begin next to it.
 */

import { readStep } from '../../memory/observed/step.js';
import { joiningFindings, newIncident } from '../../monitoring/incident/newIncident.js';
import { CANCELLED_TEXT } from '../../monitoring/incident/texts/chatTexts.js';
import { logAccusation } from '../../monitoring/incident/texts/incidentEvents.js';
import { findCrash } from '../../monitoring/verdict/detectors/crash.js';
import { DEFAULT_ACTIONS } from '../../src/config/projects.js';
import type { Settings } from '../../src/config/settings.js';
import { ConflictError } from '../../src/errors.js';
import type { FailedConversation } from '../../src/jobs/incidents.js';
import { type AgentSession, type DeathProof, MOST_INTERRUPTIONS } from '../../src/jobs/model.js';
import type { Lanes } from '../../src/jobs/ports.js';
import type { Store } from '../../src/jobs/store.js';
import type { AnsweredSession } from '../../src/jobs/transitions.js';
import { journalPath } from '../../src/journal/path.js';
import type { Logger } from '../../src/log/logger.js';
import { type Clock, isoTime, isoTimeOrNull, MINUTE } from '../../src/time.js';
import type { FailureCause } from '../agents/failures/causes.js';
import type { AgentEnd } from '../agents/program/contract.js';
import type { LiveActivity } from './activity.js';
import type { ForgottenNotice } from './forgottenNotice.js';
import { isConversationOver } from './leftConversation.js';
import { isPutBackToWait } from './passingFailures.js';

/** `self_fenced`: its lease could not be renewed in time. `lease_lost`: its lane belongs to another run. */
export type StopCause = 'requested' | 'shutdown' | 'self_fenced' | 'lease_lost';

export interface EndedRun {
  readonly sessionId: string;
  readonly runId: string;
  /** The record as the run last saw it. */
  readonly known: AgentSession | null;
  readonly end: AgentEnd;
  /** Null if a process of the run may still live; the run is then not released. */
  readonly proof: DeathProof | null;
  readonly stopCause: StopCause | null;
  readonly activity: Pick<LiveActivity, 'calls' | 'lastCallAt'>;
  /** The provider's conversation that the run continued; absent or null if it began one. */
  readonly continued?: string | null;
}

/** The parts that storing a run's end needs, also to store it again after the store has forgotten it. */
export interface EndContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lanes: Lanes;
  readonly settings: Settings;
  readonly forgotten: Pick<ForgottenNotice, 'note' | 'noteLost'>;
}

/** Changes by other processes between reading and writing that are worth another try. */
const MOST_TRIES = 20;

type Failure = Extract<AgentEnd, { kind: 'failed' }>;

/** @returns whether a person's cancellation was the end @throws ioredis' error, ConflictError: repeat it; CorruptRecordError */
export async function storeEnd(context: EndContext, ended: EndedRun): Promise<boolean> {
  const { sessionId, runId, end, proof, stopCause } = ended;
  const { transitions, records } = context.store;
  if (stopCause === 'lease_lost' || (await storeAnswer(context, ended)) !== null) return false;
  if (await isPutBackToWait(context, ended)) return false;
  if (end.kind === 'failed') await accuseOfCrash(context, ended, end);
  if (end.kind === 'stopped' && stopCause === 'shutdown' && proof !== null) {
    if ((await transitions.interrupt(sessionId, runId, proof)) !== null) return false;
    if (await isInterruptedTooOften(context, ended)) await accuseOfCrash(context, ended, INTERRUPTED_TOO_OFTEN);
  }
  if (proof === null) return false;
  await transitions.release(sessionId, proof);
  if ((await transitions.cancelReleased(sessionId, runId, CANCELLED_TEXT)) !== null) return true;
  return (await records.session(sessionId))?.status === 'cancelled';
}

/**
 * Stores a cancellation again that the store has forgotten: the session ends as cancelled, whatever has become of it. Its final
 * message is in the chat and is not sent again (bridge/chat/sendMemory.ts).
 * @returns whether the store had forgotten it
 * @throws as {@link storeEnd}
 */
export async function cancelAgain(context: EndContext, ended: EndedRun): Promise<boolean> {
  const { records, transitions } = context.store;
  const found = await records.session(ended.sessionId);
  if (found?.status !== 'active' && found?.status !== 'pending') return false;
  if (found.stop?.cause !== 'cancel') await transitions.cancel(ended.sessionId, CANCELLED_TEXT);
  await storeEnd(context, { ...ended, end: { kind: 'stopped' }, stopCause: 'requested' });
  return true;
}

/** @returns the answered session, if that stores everything about the run's end; null if there is no answer to store */
export async function storeAnswer({ store }: EndContext, ended: EndedRun): Promise<AnsweredSession | null> {
  const { sessionId, runId, known, end, proof, stopCause } = ended;
  if (end.kind !== 'answered' || stopCause === 'lease_lost') return null;
  return store.transitions.complete(sessionId, runId, end.answer, { isGone: proof !== null, known });
}

const INTERRUPTED_TOO_OFTEN: Failure = {
  kind: 'failed',
  cause: 'crash',
  reason: 'run_interrupted_too_often',
  detail: `it was interrupted ${MOST_INTERRUPTIONS + 1} times`,
};

/** An interruption is also refused for other reasons: an incident acts, a person cancelled, or the lane is another run's. */
async function isInterruptedTooOften({ store }: EndContext, { sessionId }: EndedRun): Promise<boolean> {
  const session = await store.records.session(sessionId);
  return session !== null && session.interruptions >= MOST_INTERRUPTIONS;
}

const NOT_REVIVED_BECAUSE: Readonly<Record<FailureCause, string | null>> = {
  crash: null,
  cannot_start: 'something that the agent needs to start is missing, and a second attempt would fail the same way',
  authentication: "the agent's credentials were refused, and a second attempt would be refused as well",
  credit: "the agent's account has no credit left",
  misconfigured: 'the agent cannot work with its present settings, and a second attempt would fail the same way',
  rate_limit: "the provider's usage limit is reached; ask again when it has been reset",
  provider_unavailable: null,
  host_exhausted: null,
  conversation_unusable: null,
  context_overflow: 'the message does not fit the model; ask for less at once',
};

function whyNotRevived({ cause, remedy, until }: Failure, project: string): string | null {
  const isEndStated = cause === 'rate_limit' && until !== undefined;
  const because = isEndStated
    ? `the provider's usage limit is reached; ask again after ${minuteAfter(until)}`
    : NOT_REVIVED_BECAUSE[cause];
  return because === null || remedy === undefined ? because : `${because}; ${remedy.replace('PROJECT', project)}`;
}

/** @returns the first whole minute that is not before the instant, with its date: `2026-02-05 09:31 UTC` */
function minuteAfter(epochMs: number): string {
  return `${isoTime(Math.ceil(epochMs / MINUTE) * MINUTE)
    .slice(0, 16)
    .replace('T', ' ')} UTC`;
}

/** @returns null if the run had none that an earlier message, or a second attempt, could continue */
function failedConversation(
  { conversation_id, attempt }: AgentSession,
  { continued = null, activity: { calls } }: EndedRun,
  { cause, reason }: Failure,
): FailedConversation | null {
  const id = conversation_id ?? continued;
  if (id === null) return null;
  const is_left = isConversationOver({ cause, reason, attempt, hasContinued: continued !== null, calls });
  return is_left || continued !== null ? { id, is_left } : null;
}

/** The record may change at any instant, by its progress message or by a person; then it is read again. */
async function accuseOfCrash(context: EndContext, ended: EndedRun, failure: Failure): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) if (await isAccused(context, ended, failure)) return;
  throw new ConflictError(`session ${ended.sessionId}: its record kept changing while its crash was being stored`);
}

/** The owner saw the crash, so it opens or joins the incident at once. @returns false if another process changed a record first */
async function isAccused(
  { store, clock, logger, settings }: EndContext,
  ended: EndedRun,
  failure: Failure,
): Promise<boolean> {
  const session = await store.records.session(ended.sessionId);
  if (session?.status !== 'active' || session.run?.run_id !== ended.runId || session.stop !== null) return true;
  const findings = [findCrash(failure.reason, clock.now())];
  const actions = settings.projects.get(session.project_key)?.actions ?? DEFAULT_ACTIONS;
  // The detail may quote the agent, so it is not evidence.
  const conversation = failedConversation(session, ended, failure);
  const because = conversation?.is_left === true ? null : whyNotRevived(failure, session.project_key);
  const seen = { notRevivedBecause: because, untrustedExcerpt: failure.detail, conversation };
  if (conversation?.is_left === true) await store.chatMemory.leaveConversation(session, conversation.id);
  const { calls: toolCount, lastCallAt } = ended.activity;
  if (session.incident_id === null) {
    const lastToolCall = isoTimeOrNull(lastCallAt);
    const step = await readStep(journalPath(settings.logsFolder, session.session_id));
    const incident = newIncident(clock, { session, findings, actions, toolCount, lastToolCall, step, ...seen });
    if (!(await store.incidents.open(session, incident, []))) return false;
    logAccusation(logger, incident, findings);
    return true;
  }
  const incident = await store.records.incident(session.incident_id);
  const joining = incident === null ? null : joiningFindings(incident, findings, actions, seen);
  if (incident === null || joining === null) return true;
  if ((await store.incidents.save(incident, joining, [])) === null) return false;
  logAccusation(logger, incident, findings);
  return true;
}
