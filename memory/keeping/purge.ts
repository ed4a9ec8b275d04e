/** Removes sessions for good. Nothing else removes a worklog. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode, UnreachableError } from '../../src/errors.js';
import { syncFolderSync } from '../../src/files/durableFile.js';
import { describeStorageFault } from '../../src/files/storageFault.js';
import { readPurpose } from '../observed/purpose.js';
import type { Memory } from '../sessions/memory.js';
import { requireOwnMemory } from '../sessions/ownMemory.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Archivist, Viewer } from '../sessions/views.js';
import { releaseClaim, requireNoOtherRun } from './archive.js';
import { lastSeen } from './lastSeen.js';

/** Begins the name of a folder that is being removed. Names that begin with a dot are no sessions. */
const REMOVED = '.removed-';

export interface OldSession {
  readonly session_id: string;
  readonly purpose: string;
  readonly last_activity: number | null;
}

/**
 * @param before UTC epoch milliseconds
 * @returns the sessions, archived or not, whose last activity was earlier, and on which no run may be at work
 */
export async function sessionsBefore(memory: Viewer, before: number): Promise<OldSession[]> {
  const old: OldSession[] = [];
  for (const id of [...memory.sessions.ids(), ...memory.sessions.archivedIds()]) {
    const session = memory.look(id);
    if (session === null || memory.runsOf(session.log.state).going.length > 0) continue;
    const last = lastSeen(memory, session.log.state);
    if (last !== null && last < before) old.push(await oldSession(memory, session));
  }
  return old;
}

/** @returns what a person must know of a session before it is removed for good */
export async function oldSession(memory: Viewer, { id, log: { state } }: OpenSession): Promise<OldSession> {
  const purpose = await readPurpose(state, memory.programs, memory.stamp.redact);
  return {
    session_id: id,
    purpose: purpose || `(recorded by itself in ${state.facts?.cwd ?? 'an unknown directory'})`,
    last_activity: lastSeen(memory, state),
  };
}

/**
 * Removes a session: its name at once, then its files. Another process may do the same.
 * @throws RefusedError while another live run works on it
 */
export function purgeSession(memory: Archivist, session: OpenSession): void {
  requireOwnMemory(memory.places);
  requireNoOtherRun(memory, session.log.state);
  releaseClaim(memory, session);
  const parent = dirname(session.folder);
  const doomed = join(parent, `${REMOVED}${basename(session.folder)}.${randomBytes(6).toString('hex')}`);
  try {
    renameSync(session.folder, doomed);
    syncFolderSync(parent);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' && memory.places.findSession(session.id) === null) return;
    throw new UnreachableError(`${session.folder} cannot be removed: ${describeStorageFault(error)}`, { cause: error });
  }
  remove(doomed);
}

/**
 * Removes the files of sessions whose removal was killed: they have lost the name that a person could ask for.
 * @throws UnreachableError if they cannot be removed
 */
export function finishRemovals({ places }: Pick<Memory, 'places'>): void {
  for (const parent of places.parentsOfSessions())
    for (const name of namesIn(parent)) if (name.startsWith(REMOVED)) remove(join(parent, name));
}

function namesIn(folder: string): string[] {
  try {
    return existsSync(folder) ? readdirSync(folder) : [];
  } catch (error) {
    throw new UnreachableError(`${folder} cannot be read: ${describeStorageFault(error)}`, { cause: error });
  }
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    // Two processes may remove it at once, and each finds less than it has seen.
    if (!existsSync(folder)) return;
    throw new UnreachableError(`${folder} cannot be removed: ${describeStorageFault(error)}`, { cause: error });
  }
}
