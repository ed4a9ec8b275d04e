/** How `work continue` and `track init --resume` continue a session. */

import { UsageError } from '../../src/errors.js';
import { runWords } from '../fold/runs.js';
import { unarchiveSession } from '../keeping/archive.js';
import { RefusedError } from '../logs/kind.js';
import { type Adopting, adoptCaller, isInAgent } from '../sessions/adoption.js';
import { requireOwnMemory } from '../sessions/ownMemory.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Archivist, Caller } from '../sessions/views.js';

/**
 * Moves the agent of the caller's shell, if there is one, to the session, and takes the session out of the archive.
 * @param joins whether the agent may join another one that works on the session
 * @returns its folder, and whether it was in the archive
 * @throws RefusedError if it has ended, another agent works on it, or in the memory of a bridge; UsageError if no agent could resume it
 */
export function resumeWith(
  memory: Adopting & Caller & Archivist,
  session: OpenSession,
  joins = false,
): { folder: string; unarchived: boolean } {
  const { lifecycle, archived, facts } = session.log.state;
  if (lifecycle === 'ended')
    throw new RefusedError({
      code: 'ended',
      message: `session ${session.id} has ended; first: watchkeeper work reopen ${session.id}`,
    });
  requireOwnMemory(memory.places);
  // It holds no directory, so no command of a person could mean it.
  if (facts?.explicit === false && !isInAgent(memory)) throw nothingToMove(session);
  if (!joins) requireNoOtherAgent(memory, session);
  const folder = archived === null ? session.folder : unarchiveSession(memory, session);
  adoptCaller(memory, session);
  return { folder, unarchived: archived !== null };
}

export function nothingToMove({ id }: OpenSession): UsageError {
  return new UsageError(
    `no agent works in this shell, so there is nothing to move; \`watchkeeper track resume ${id}\` shows how to go on`,
  );
}

/** A caller without an agent moves none. An agent whose conversation the session has already is no newcomer. */
function requireNoOtherAgent(memory: Caller, { id, log }: OpenSession): void {
  const { conversation, agentProcess, bindings } = memory;
  const isOwn = conversation === null ? agentProcess === null : bindings.sessionOf(conversation) === id;
  const [other] = isOwn ? [] : memory.otherRuns(log.state);
  if (other === undefined) return;
  const message = [
    `session ${id} has an agent: ${runWords(other)}, and two would write into one record`,
    'End that agent first.',
    'Or begin beside it: watchkeeper work start --concurrent --purpose TEXT',
    `Or join it:         watchkeeper work continue ${id} --concurrent`,
  ];
  throw new RefusedError({ code: 'run_alive', message });
}
