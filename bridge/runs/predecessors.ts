/** Before a bridge takes any job, no process of a dead predecessor on this host may still work in a lane. */

import type { Settings } from '../../src/config/settings.js';
import { CorruptRecordError, describeError, UnreachableError } from '../../src/errors.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { isOwnerAlive } from '../../src/host/lifeSign.js';
import type { AgentSession, DeathProof, Run } from '../../src/jobs/model.js';
import type { KnownEnd } from '../../src/jobs/sessionEnds.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import type { Service } from '../../src/service.js';
import type { Clock } from '../../src/time.js';
import type { JobQueue } from '../queue/pump.js';
import { wasCutDown, witnessHere } from './cutDown.js';
import { endProcesses } from './endRun.js';
import { proveRunDead } from './proof.js';
import { targetOf } from './runProcesses.js';
import type { StopMark } from './stopMark.js';

export interface PredecessorContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly here: ProcessIdentity;
  readonly settings: Settings;
  readonly logsId: string;
  /** As in {@link SagaContext}. */
  endOnDisk(session: AgentSession): Promise<KnownEnd | null>;
  readonly stopMark: Pick<StopMark, 'wasStopping'>;
}

export interface CleanStartParts extends PredecessorContext {
  readonly queue: JobQueue;
  readonly stopMark: StopMark;
  /** The messages that Redis lost together with a dead predecessor. */
  readonly lost: { endHere(): Promise<string[]> };
}

export class CleanStart implements Service {
  readonly name = 'clean start';
  readonly #parts: CleanStartParts;

  constructor(parts: CleanStartParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { store, queue, stopMark, lost, logger } = this.#parts;
    const reported = await lost.endHere();
    if (reported.length > 0)
      logger.error({ sessions: reported }, `Redis had lost open messages: ${reported.join(', ')}`);
    const ended = await endPredecessorsRuns(this.#parts);
    await stopMark.clearUnlessNeeded(await store.records.sessions(await store.records.sessionIds('active')));
    if (ended.length > 0) logger.warn({ sessions: ended }, `runs of a bridge that died are ended: ${ended.join(', ')}`);
    await queue.rememberAll();
    await queue.pump();
  }

  async stop(): Promise<void> {}
}

/**
 * Ends the processes of every run on this host whose bridge is dead, and stores the proof. The watchdog does the rest: it finds
 * an orphan whose run is released. If the store forgot how a session ended, that end is stored again. A session whose run died
 * before anything was heard of its agent, or in a stop that was cut off, goes back to its lane. If an incident has the session, only the proof
 * is stored.
 * @returns the sessions whose runs are now proven dead
 */
export async function endPredecessorsRuns(context: PredecessorContext): Promise<string[]> {
  const { store, logger } = context;
  const ended: string[] = [];
  for (const session of await store.records.sessions(await store.records.sessionIds('active'))) {
    if (session instanceof CorruptRecordError || session.run === null || session.released !== null) continue;
    const { run, session_id } = session;
    if (!(await isLeftHere(context, run))) continue;
    const proof = await endedRun(context, run, { session_id });
    if (proof === null) {
      // Its lane stays held: the watchdog finds the orphan and asks for the proof again.
      logger.error({ session_id }, `session ${session_id}: what a dead bridge left could not be ended`);
      continue;
    }
    if (await isSettled(context, session, run, proof)) continue;
    if ((await store.transitions.release(session_id, proof)) !== null) ended.push(session_id);
  }
  await freeBlockedLanes(context);
  return ended;
}

/** @returns true also if its journal cannot be read now: its answer may be there, and the watchdog asks again */
async function isSettled(context: PredecessorContext, session: AgentSession, run: Run, proof: DeathProof) {
  try {
    return (await hasEnded(context, session, run)) || (await isPutBack(context, session, run, proof));
  } catch (err) {
    if (!(err instanceof UnreachableError)) throw err;
    context.logger.error({ err, session_id: session.session_id }, `session ${session.session_id}: ${err.message}`);
    return true;
  }
}

/** The store forgot how its message ended, but the disk did not: no failure is recorded. */
async function hasEnded({ store, endOnDisk }: PredecessorContext, session: AgentSession, run: Run) {
  // The process that drives its incident asks the disk, and only the first one to ask learns that the answer cannot have been
  // sent.
  if (session.incident_id !== null) return false;
  const end = await endOnDisk(session);
  return end !== null && (await store.transitions.endForgotten(session.session_id, run.run_id, end)) !== null;
}

/** The bridge was killed during an orderly stop, or before its agent can have done anything, so the run was no attempt. */
async function isPutBack(
  { store, logger, settings, here, logsId, stopMark }: PredecessorContext,
  session: AgentSession,
  run: Run,
  proof: DeathProof,
) {
  const { session_id } = session;
  const isStopped = await stopMark.wasStopping(session);
  if (!isStopped && !wasCutDown(witnessHere(settings, here, logsId), session)) return false;
  if ((await store.transitions.interrupt(session_id, run.run_id, proof)) === null) return false;
  const why = isStopped
    ? 'its bridge was killed while it stopped'
    : 'interrupted before anything was heard of its agent';
  logger.info({ session_id }, `session ${session_id}: ${why}; it waits again`);
  return true;
}

/** Retries processes that could not be ended before; if that fails again, the lane stays blocked. */
async function freeBlockedLanes(context: PredecessorContext): Promise<void> {
  const { blockedLanes } = context.store;
  for (const blocked of await blockedLanes.all()) {
    const { run, lane } = blocked;
    if (run === null || !(await isLeftHere(context, run))) continue;
    const proof = await endedRun(context, run, { lane });
    if (proof !== null) await blockedLanes.free(blocked, proof, []);
  }
}

/** A dead bridge of this host has begun the run. */
async function isLeftHere({ here, settings }: PredecessorContext, { owner }: Run): Promise<boolean> {
  return owner.host === here.host && (await isOwnerAlive(owner, here, settings.logsFolder)) === false;
}

/** Processes of a past container or boot are not here to be ended. @returns null if it could not be ended, which is logged */
async function endedRun(context: PredecessorContext, run: Run, fields: object): Promise<DeathProof | null> {
  const { clock, logger, here, settings } = context;
  const { logsFolder, timings } = settings;
  try {
    const proof = await proveRunDead(run, here, { clock, logsFolder });
    return proof ?? (await endProcesses(targetOf(run), { clock, graceMs: timings.killGraceMs }));
  } catch (err) {
    logger.error({ err, ...fields }, describeError(err));
    return null;
  }
}
