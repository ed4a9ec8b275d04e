/**
 * The round over all sessions of a memory: it keeps those whose runs have ended, removes copies that are too old, archives sessions
 * that rested long enough, and removes the bindings of processes of other boots, and what killed commands left in the temporary
 * folder. The next start in a session's directory reports what was done to it.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../src/errors.js';
import { syncFolderSync } from '../../src/files/durableFile.js';
import { DAY, HOUR, spokenDuration } from '../../src/time.js';
import { worklogKind } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { sweepPrivateFolders } from '../git/privateFolder.js';
import { journalIn } from '../home/places.js';
import type { Locating } from '../look/standing.js';
import { readSeal } from '../observed/keptCopy.js';
import { FOLD_FILE } from '../observed/storedFold.js';
import type { Memory } from '../sessions/memory.js';
import { requireOwnMemory } from '../sessions/ownMemory.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Archivist, Viewer } from '../sessions/views.js';
import { archiveSession, dueSessions } from './archive.js';
import { keepSession } from './keep.js';
import { finishRemovals } from './purge.js';

export interface Round {
  readonly kept: readonly string[];
  /** Sessions whose copies were too old. */
  readonly expired: readonly string[];
  readonly archived: readonly string[];
  /** Without an id if something that was left by a killed command could not be removed. */
  readonly failures: readonly { readonly session_id: string | null; readonly message: string }[];
}

/**
 * @param until when it gives up, UTC epoch milliseconds; the next round continues
 * @throws RefusedError in the memory of a bridge
 */
export async function keepRound(memory: Locating & Archivist, until: number): Promise<Round> {
  requireOwnMemory(memory.places);
  const { sessions, clock } = memory;
  const round = { kept: [] as string[], expired: [] as string[], archived: [] as string[] };
  const failures: { session_id: string | null; message: string }[] = [];
  const tried = async (id: string, work: (session: OpenSession) => Promise<void> | void) => {
    try {
      await sessions.withSession(clock.now() < until ? id : null, work);
    } catch (error) {
      failures.push({ session_id: id, message: describeError(error) });
    }
  };
  for (const sweep of [() => finishRemovals(memory), () => sweepPrivateFolders(clock.now())])
    try {
      sweep();
    } catch (error) {
      failures.push({ session_id: null, message: describeError(error) });
    }
  for (const id of [...sessions.ids(), ...sessions.archivedIds()])
    await tried(id, async (session) => {
      if (removeOldCopy(memory, session)) round.expired.push(id);
      else if (isToBeKept(memory, session.log.state)) {
        await keepSession(memory, session, until).catch((error: unknown) => {
          leaveReport(memory, session, describeError(error));
          throw error;
        });
        round.kept.push(id);
      }
    });
  for (const id of memory.settings.auto_archive.when_archivable ? dueSessions(memory) : [])
    await tried(id, (session) => {
      archiveSession(memory, session, { by: 'watchkeeper' });
      round.archived.push(id);
      const rest = spokenDuration(memory.settings.freshness.archivable_h * HOUR);
      const archived = `session ${id} rested for more than ${rest} and is in the archive`;
      leaveReport(memory, session, `${archived}: watchkeeper work unarchive ${id}`, true);
    });
  memory.bindings.forgetOtherBoots(memory.surroundings.process);
  return { ...round, failures };
}

/** Whether a run has ended, or is proven dead, and was not kept afterwards. Without a known run, the time of its end is unknown. */
function isToBeKept(memory: Viewer, log: Worklog): boolean {
  const { conversations, runs, lifecycle, kept } = log;
  if (conversations.length === 0 || isTooOld(memory, log) || memory.runsOf(log).going.length > 0) return false;
  if (runs.length === 0 && lifecycle !== 'ended') return false;
  if (kept === null || kept.failure !== null || !kept.complete) return true;
  const changes = [
    ...runs.map((run) => Math.max(run.started_at, run.ended_at ?? 0)),
    ...conversations.map(({ at }) => at),
  ];
  return kept.at < Math.max(0, ...changes);
}

function removeOldCopy(memory: Viewer, session: OpenSession): boolean {
  const path = journalIn(session.folder);
  if (!existsSync(path) || readSeal(path) === null || !isTooOld(memory, session.log.state)) return false;
  // The line first: without it, a copy that is gone is a fault.
  memory.sessions.addFacts(session, [worklogKind.line('kept', { removed: true })], { by: 'watchkeeper' });
  // Without the copy, no process looks for the fold of it.
  for (const file of [join(session.folder, FOLD_FILE), path]) rmSync(file, { force: true });
  syncFolderSync(session.folder);
  return true;
}

function isTooOld(memory: Viewer, log: Worklog): boolean {
  const { end, last_activity, created_at, kept } = log;
  const last = Math.max(end?.at ?? 0, last_activity ?? 0, created_at ?? 0, kept?.last_activity ?? 0);
  return memory.runsOf(log).going.length === 0 && memory.clock.now() - last >= memory.settings.keep_days * DAY;
}

function leaveReport(
  { claims }: Pick<Memory, 'claims'>,
  { id, log }: OpenSession,
  sentence: string,
  isArchived = false,
): void {
  const workspace = log.state.facts?.workspace ?? null;
  const found = workspace === null ? null : claims.find(workspace);
  if (found !== null) claims.leaveReport(found, id, sentence, isArchived);
}
