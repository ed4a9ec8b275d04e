/** The sessions of a memory, for somebody who picks one. */
import { UnreachableError } from '../../src/errors.js';
import { isCrashed } from '../fold/crash.js';
import { type Progress, progressOf, purposeOf } from '../fold/state.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession, Sessions } from '../sessions/sessions.js';
import type { EndReason, Lifecycle } from '../words.js';

export interface ListedSession {
  readonly session_id: string;
  readonly purpose: string;
  readonly name: string | null;
  readonly workspace: string | null;
  readonly lifecycle: Lifecycle;
  readonly end_reason: EndReason | null;
  readonly crashed: boolean;
  readonly progress: Progress;
  readonly created_at: number | null;
  readonly last_activity: number | null;
}

/**
 * @param options `here`: only those of the caller's workspace; `which`: also those that have ended, or those in the archive
 * @param onUnreadable called for each session whose log cannot be read
 * @returns the sessions whose log can be read, the last active first. An implicit session that was left empty is not among them
 */
export function listSessions(
  memory: Memory,
  { here, which }: { here: boolean; which: 'unfinished' | 'all' | 'archived' },
  onUnreadable: (error: UnreachableError) => void,
): ListedSession[] {
  const { sessions } = memory;
  const ids = which === 'archived' ? [...sessions.ids(), ...sessions.archivedIds()] : sessions.ids();
  const found = ids.flatMap((id) => {
    const session = readOrTell(sessions, id, onUnreadable);
    session?.log.close();
    if (session === null || session.log.counts.lines === 0) return [];
    const { facts, lifecycle, end, archived, steps, created_at, last_activity } = session.log.state;
    if ((archived !== null) !== (which === 'archived')) return [];
    if (here && facts?.workspace !== memory.workspace.id) return [];
    if (end !== null && (which === 'unfinished' || end.reason === 'superseded')) return [];
    return [
      {
        session_id: id,
        purpose: purposeOf(session.log.state),
        name: facts?.name ?? null,
        workspace: facts?.workspace ?? null,
        lifecycle,
        end_reason: end?.reason ?? null,
        crashed: isCrashed(session.log.state, memory.surroundings.process),
        progress: progressOf([...steps.values()]),
        created_at,
        last_activity,
      },
    ];
  });
  return found.sort((left, right) => (right.last_activity ?? 0) - (left.last_activity ?? 0));
}

function readOrTell(
  sessions: Sessions,
  id: string,
  onUnreadable: (error: UnreachableError) => void,
): OpenSession | null {
  try {
    return sessions.read(id);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    onUnreadable(error);
    return null;
  }
}
