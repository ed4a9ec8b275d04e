/** Notes where agents have ended, in the logs of workspaces: a folder, or a transcript, may be removed next. */
import { existsSync } from 'node:fs';
import { UnreachableError, UsageError } from '../../src/errors.js';
import { directoryOfAgent, type Located, type Locating } from '../look/standing.js';

/**
 * Notes where the agent of a session has ended, and what is checked out there and where the session began. Does nothing while an agent
 * works, and nothing if the logs cannot be written: then the session stands where it began, until the next time.
 */
export function noteStanding(memory: Locating, session: Located): void {
  const { claims, surroundings } = memory;
  const { state } = session.log;
  if (memory.runsOf(state).going.length > 0) return;
  const own = memory.workspaceOf(state);
  const directory = directoryOfAgent(memory, session);
  const last =
    directory === null || !existsSync(directory) ? null : claims.workspaceOf(directory, surroundings.variables);
  try {
    if (own !== null && claims.find(own.id) !== null) claims.worktrees.note(own);
    // In a plain folder, a log would make a workspace of it.
    if (last === null || last.kind !== 'git' || last.id === own?.id) return;
    claims.enter(last, session.id, 'came');
    claims.worktrees.note(last);
  } catch (error) {
    if (!(error instanceof UnreachableError || error instanceof UsageError)) throw error;
  }
}
