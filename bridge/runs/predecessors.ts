/** A bridge that starts first ends what its dead predecessor on this host left. */

import { CorruptRecordError, describeError } from '../../src/errors.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { isOwnerAlive } from '../../src/host/lifeSign.js';
import type { AgentSession, DeathProof, Run } from '../../src/jobs/model.js';
import type { KnownEnd } from '../../src/jobs/sessionEnds.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import { wasCutDown } from './cutDown.js';
import { type RunTarget, targetOf } from './runProcesses.js';

export interface PredecessorContext {
  readonly store: Store;
  readonly logger: Logger;
  readonly here: ProcessIdentity;
  readonly logsFolder: string;
  /** Its id. */
  readonly logsId: string;
  /** Without ending anything. */
  proveDead(run: Run): Promise<DeathProof | null>;
  endProcesses(target: RunTarget): Promise<DeathProof | null>;
  /** As in {@link SagaContext}. */
  endOnDisk(session: AgentSession): Promise<KnownEnd | null>;
  /** @returns whether the owner of the session's run was being stopped when it went */
  wasStopping(session: AgentSession): Promise<boolean>;
}

/**
 * Ends the processes of every run on this host whose bridge is dead, and stores the proof. What follows is the watchdog's:
 * it finds an orphan whose run is released. A session whose end the store forgot ends so again. One that was cut down before
 * its first call, or by a stop that was cut off, waits again. Where an incident has the session, only the proof is stored.
 * @returns the sessions whose runs are proven dead now
 */
export async function endPredecessorsRuns(context: PredecessorContext): Promise<string[]> {
  const { store, logger, here, logsFolder } = context;
  const ended: string[] = [];
  for (const session of await store.records.sessions(await store.records.sessionIds('active'))) {
    if (session instanceof CorruptRecordError || session.run === null || session.released !== null) continue;
    const { run } = session;
    const isOurs = run.owner.host === here.host && (await isOwnerAlive(run.owner, here, logsFolder)) === false;
    if (!isOurs) continue;
    const proof = await proveOrEnd(context, run).catch((err: unknown) => {
      logger.error({ err, session_id: session.session_id }, describeError(err));
      return null;
    });
    if (proof === null) {
      // Its lane stays held: the watchdog finds the orphan and asks for the proof again.
      const said = `session ${session.session_id}: what a dead bridge left could not be ended`;
      logger.error({ session_id: session.session_id }, said);
      continue;
    }
    if ((await hasEnded(context, session, run)) || (await isPutBack(context, session, proof))) continue;
    if ((await store.transitions.release(session.session_id, proof)) !== null) ended.push(session.session_id);
  }
  await freeBlockedLanes(context);
  return ended;
}

/** The store forgot the end of its message, the disk did not: nobody is accused. */
async function hasEnded({ store, endOnDisk }: PredecessorContext, session: AgentSession, run: Run) {
  // Whoever drives its incident asks the disk, and only the first who asks learns that nobody can have sent the answer.
  if (session.incident_id !== null) return false;
  const end = await endOnDisk(session);
  return end !== null && (await store.transitions.endForgotten(session.session_id, run.run_id, end)) !== null;
}

/** It was being stopped in order, and was cut off; or it has made no call: an attempt that did not begin is none. */
async function isPutBack(
  { store, logger, logsFolder, logsId, wasStopping }: PredecessorContext,
  session: AgentSession,
  proof: DeathProof,
) {
  const { session_id, run } = session;
  if (run === null) return false;
  const isStopped = await wasStopping(session);
  if (!isStopped && !wasCutDown(logsFolder, logsId, session)) return false;
  if ((await store.transitions.interrupt(session_id, run.run_id, proof)) === null) return false;
  const why = isStopped ? 'its bridge was killed while it stopped' : 'cut down before its agent made a call';
  logger.info({ session_id }, `session ${session_id}: ${why}; it waits again`);
  return true;
}

/** What nobody could end before is tried once more; where that is of no use, the lane stays blocked. */
async function freeBlockedLanes(context: PredecessorContext): Promise<void> {
  const { store, logger, here, logsFolder } = context;
  for (const blocked of await store.blockedLanes.all()) {
    const { run, lane } = blocked;
    if (run?.owner.host !== here.host || (await isOwnerAlive(run.owner, here, logsFolder)) !== false) continue;
    const proof = await proveOrEnd(context, run).catch((err: unknown) => {
      logger.error({ err, lane }, describeError(err));
      return null;
    });
    if (proof !== null) await store.blockedLanes.free(blocked, proof, []);
  }
}

/** What went with its container or with a former boot is not here to be ended. */
async function proveOrEnd({ proveDead, endProcesses }: PredecessorContext, run: Run): Promise<DeathProof | null> {
  return (await proveDead(run)) ?? endProcesses(targetOf(run));
}
