/**
 * What is stored of a run's end. Safe to repeat: every transition refuses what has happened already.
 *
 * | the agent | somebody had asked for | stored |
 * |---|---|---|
 * | answered | anything | the answer, unless the run was released before |
 * | failed | nothing | an incident with the rule `crash`, then the release |
 * | any | a person's cancellation | release and cancellation; an open incident ends it |
 * | any | an incident's stop | the release: the incident goes on from there |
 * | stopped | the bridge's own stop | back at its lane's head |
 * | any | the lease is lost | nothing: others have decided |
 */
import { findCrash } from '../../monitoring/detectors/crash.js';
import { CANCELLED_TEXT } from '../../monitoring/incident/chatTexts.js';
import { newIncident } from '../../monitoring/incident/newIncident.js';
import { DEFAULT_ACTIONS } from '../../src/config/projects.js';
import type { Project } from '../../src/config/settings.js';
import { type DeathProof, MOST_INTERRUPTIONS } from '../../src/model.js';
import type { Store } from '../../src/store/store.js';
import { type Clock, isoTime } from '../../src/time.js';
import type { AgentEnd, FailureCause } from '../agents/contract.js';
import type { LiveActivity } from './activity.js';

/** Why a run is being ended before its own end. */
export type StopCause = 'requested' | 'shutdown' | 'lease_lost';

export interface EndedRun {
  readonly sessionId: string;
  readonly runId: string;
  readonly end: AgentEnd;
  /** Null: something of the run may still live, so it is not released. */
  readonly proof: DeathProof | null;
  readonly stopCause: StopCause | null;
  readonly activity: Pick<LiveActivity, 'calls' | 'lastCallAt'>;
}

export interface EndContext {
  readonly store: Store;
  readonly clock: Clock;
  projectOf(key: string): Project | null;
}

type Failure = Extract<AgentEnd, { kind: 'failed' }>;

/** @throws ioredis' error where the store is away: repeat the call */
export async function storeEnd(context: EndContext, ended: EndedRun): Promise<void> {
  const { sessionId, runId, end, proof, stopCause } = ended;
  const { transitions } = context.store;
  if (stopCause === 'lease_lost') return;
  if (end.kind === 'answered' && (await transitions.complete(sessionId, runId, end.answer)) !== null) return;
  if (end.kind === 'failed') await openCrash(context, ended, end);
  if (end.kind === 'stopped' && stopCause === 'shutdown' && proof !== null) {
    if ((await transitions.interrupt(sessionId, runId, proof)) !== null) return;
    await openCrash(context, ended, INTERRUPTED_TOO_OFTEN);
  }
  if (proof === null) return;
  await transitions.release(sessionId, proof);
  await transitions.cancelReleased(sessionId, runId, CANCELLED_TEXT);
}

const INTERRUPTED_TOO_OFTEN: Failure = {
  kind: 'failed',
  cause: 'crash',
  reason: 'run_interrupted_too_often',
  detail: `the bridge was stopped during every one of ${MOST_INTERRUPTIONS + 1} attempts to run it`,
};

/** The owner saw it happen, so it opens the incident at once; the acting watchdog takes it from there. */
async function openCrash(context: EndContext, ended: EndedRun, failure: Failure): Promise<void> {
  const { store, clock } = context;
  const session = await store.records.session(ended.sessionId);
  if (session?.status !== 'active' || session.run?.run_id !== ended.runId) return;
  if (session.stop !== null || session.incident_id !== null) return;
  const { activity } = ended;
  const incident = newIncident(clock, {
    session,
    findings: [findCrash(failure.reason, failure.detail, clock.now())],
    actions: context.projectOf(session.project_key)?.actions ?? DEFAULT_ACTIONS,
    notRevivedBecause: reasonNotToRevive(failure.cause),
    toolCount: activity.calls,
    lastToolCall: activity.lastCallAt === null ? null : isoTime(activity.lastCallAt),
  });
  await store.incidents.open(session, incident, []);
}

function reasonNotToRevive(cause: FailureCause): string | null {
  switch (cause) {
    case 'crash':
      return null;
    case 'authentication':
      return "the agent's credentials were refused, and a second attempt would meet the same refusal";
    case 'credit':
      return "the agent's account has no credit left";
    case 'context_overflow':
      return 'the conversation no longer fits the model; begin a new one with /new';
    default:
      return cause satisfies never;
  }
}
