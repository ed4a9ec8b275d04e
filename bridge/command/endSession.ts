/** The end of a session, as `track done` and `work end` say it. */
import { archiveCompleted } from '../../memory/keeping/archive.js';
import type { Ending } from '../../memory/sessions/lifecycle.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';
import { keepLater } from './keepLater.js';
import { stopMonitor } from './monitorProcess.js';
import type { Call } from './word.js';

/**
 * Ends the session, archives it if all its phases are done, and has its transcripts kept; its monitor ends.
 * @throws RefusedError if it has ended already, or in the memory of a bridge
 */
export async function endSession(
  { memory, context, print }: Call,
  session: OpenSession,
  ending: Ending,
): Promise<void> {
  const { id, log } = session;
  const { reason } = ending;
  memory.lifecycle.end(session, memory.workspaceOf(log.state), ending);
  const archived = archiveCompleted(memory, session);
  await stopMonitor(memory, session);
  keepLater(context, memory, session);
  const place = archived === null ? '' : `; it is in the archive: ${archived}`;
  print(`session ${id} has ended: ${reason}${place}`, {
    session_id: id,
    reason,
    ...(archived !== null && { archived }),
  });
}
