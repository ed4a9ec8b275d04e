/** The parts that the saga needs from outside, and the functions that all of its steps share. */

import { UnreachableError } from '../../src/errors.js';
import type {
  Incident,
  IncidentAction,
  IncidentOutcome,
  IncidentReport,
  ReachedStep,
} from '../../src/jobs/incidents.js';
import type { AgentSession, DeathProof } from '../../src/jobs/model.js';
import type { Chat, WorkQueue } from '../../src/jobs/ports.js';
import type { KnownEnd } from '../../src/jobs/sessionEnds.js';
import type { ActingContext } from '../actors/actedFolders.js';
import { writeEvent } from '../events/notice.js';
import type { KnownGaps } from '../lateness/knownGaps.js';
import type { RefusedTries } from './refusedTries.js';
import { type IncidentLine, incidentEvent } from './texts/incidentEvents.js';

/** How far a step got: `look` again at once, or wait until an instant (epoch ms; null to wait for a wake). */
export type Progress = 'look' | { readonly waitUntil: number | null };

/** Facts about all sessions that this watchdog judges. */
export interface ManySessions {
  active(): number;
  /** @returns how many healthy sessions would be silent within so many milliseconds if they showed no further activity */
  soonSilent(withinMs: number): Promise<number>;
}

export interface SagaContext extends ActingContext {
  /** A run's owner that was also stopped could not end it during the gap. */
  readonly gaps: KnownGaps;
  readonly timings: Readonly<Record<'reportWaitMs' | 'proofMs' | 'runLeaseMs', number>>;
  readonly queue: WorkQueue;
  readonly chat: Chat;
  readonly reporter: Reporter;
  /** The incident is looked at again at the instant, epoch milliseconds. */
  readonly agenda: { driveAt(incidentId: string, instant: number): void };
  /** @returns why the message must not be run again though it could be, in words for the chat; null if it may */
  keptBack(session: AgentSession): string | null;
  /** @returns the proof that no process of the session's run is left, if this process can obtain it by itself */
  proveDead(session: AgentSession): Promise<DeathProof | null>;
  /** @returns the end that this process's disk knows of but the store does not, to be stored at once; null if there is none */
  endOnDisk(session: AgentSession): Promise<KnownEnd | null>;
  /** Changes nothing. @returns whether a journal that this process can read has an answer of the session */
  isAnsweredInJournal(session: AgentSession): Promise<boolean>;
  /** @returns whether the bridge of its run, which is proven dead, ended before its agent can have done anything */
  wasCutDown(session: AgentSession): boolean;
  /** @returns whether the bridge of its run, which is gone, was being stopped, as far as this process can read that */
  wasStopping(session: AgentSession): Promise<boolean>;
  /** @returns whether a revival has done real work, so that its provider answers: a successful call of its own */
  hasWorked(sessionId: string): Promise<boolean>;
  /** @returns the step that the session's agent has reached; null if it has none, or its journal cannot be read here */
  stepOf(sessionId: string): Promise<ReachedStep | null>;
  readonly sessions: ManySessions;
  /** Refused requests that were tried again by this process. */
  readonly refusedTries: RefusedTries;
}

/** The place of the issues said no, and will until a person changes something. */
export class RefusedError extends UnreachableError {}

export interface Reporter {
  /** Files or joins the issue. Idempotent per incident; never throws for a sink's answer. */
  report(incident: Incident, session: AgentSession | null): Promise<IncidentReport>;
  /** How it ended, or how far it got. Idempotent. @throws UnreachableError if a retry may help, else RefusedError, UsageError */
  noteOutcome(incident: Incident): Promise<void>;
}

/** Writes the line of a step, as a snapshot with the action that the step is about to note. */
export async function logStep(
  { events, logger, clock }: SagaContext,
  incident: Incident,
  session: AgentSession | null,
  { action: last_action, ...line }: IncidentLine & { readonly action: IncidentAction },
): Promise<void> {
  await writeEvent(events, logger, incidentEvent({ ...incident, last_action }, session, line, clock.now()));
}

/** @returns the incident after a change that affects nothing else; null if another process was first */
export async function save(
  { store, folders }: SagaContext,
  incident: Incident,
  patch: Partial<Incident>,
): Promise<Incident | null> {
  return store.incidents.save(incident, patch, folders.guard());
}

/** @returns `look`, whether the change was stored or another process was faster */
export async function saveAndLook(context: SagaContext, incident: Incident, patch: Partial<Incident>): Promise<'look'> {
  await save(context, incident, patch);
  return 'look';
}

/** Decides how the incident ends; the remaining messages and lines follow. */
export function decide(context: SagaContext, incident: Incident, outcome: IncidentOutcome): Promise<'look'> {
  return saveAndLook(context, incident, { outcome });
}

/** The incident is looked at at once. */
export function wake({ agenda, clock }: SagaContext, incidentId: string): void {
  agenda.driveAt(incidentId, clock.now());
}
