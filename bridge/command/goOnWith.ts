/** How `work continue` and `track init --resume` go on with a session. */
import { unarchiveSession } from '../../memory/keeping/archive.js';
import { RefusedError } from '../../memory/logs/log.js';
import { adoptCaller } from '../../memory/sessions/adoption.js';
import type { Memory } from '../../memory/sessions/memory.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';

/**
 * Moves the agent in whose shell the caller runs, if there is one, to the session, which leaves the archive.
 * @returns its folder, and whether it was in the archive
 * @throws RefusedError if it has ended
 */
export function goOnWith(memory: Memory, session: OpenSession): { folder: string; unarchived: boolean } {
  const { lifecycle, archived } = session.log.state;
  if (lifecycle === 'ended')
    throw new RefusedError({
      code: 'ended',
      message: `session ${session.id} has ended; first: watchkeeper work reopen ${session.id}`,
    });
  const folder = archived === null ? session.folder : unarchiveSession(memory, session);
  adoptCaller(memory, session);
  return { folder, unarchived: archived !== null };
}
