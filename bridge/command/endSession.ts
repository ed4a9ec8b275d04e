/** The end of a session, as `track done` and `work end` say it. */
import { archiveCompleted } from '../../memory/keeping/archive.js';
import { goOnAfter } from '../../memory/programs/afterEnd.js';
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
  const next = goOnAfter(memory, session);
  const archived = archiveCompleted(memory, session);
  await stopMonitor(memory, session);
  keepLater(context, memory, session);
  const place = archived === null ? '' : `; it is in the archive: ${archived}`;
  const more = next === null ? '' : `; what its agent is asked from now on is recorded in session ${next}`;
  print(`session ${id} has ended: ${reason}${place}${more}`, {
    session_id: id,
    reason,
    ...(archived !== null && { archived }),
    ...(next !== null && { next }),
  });
}
