/** The end of a session, as `track done` and `work end` say it. */
import { goOnCommand } from '../../memory/brief/goOn.js';
import { unsettledOf } from '../../memory/fold/state.js';
import { archiveCompleted } from '../../memory/keeping/archive.js';
import { goOnAfter } from '../../memory/programs/afterEnd.js';
import type { Ending } from '../../memory/sessions/lifecycle.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';
import { stepLine, unsettledWords } from '../../memory/show/status.js';
import { keepLater } from './keepLater.js';
import { stopMonitor } from './monitorProcess.js';
import type { Call } from './word.js';

/**
 * Ends the session, archives it if all its phases are done, and has its transcripts kept; its monitor ends. Says which steps are not done.
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
  const undone = undoneSteps(session);
  const wayBack = undone.lines.length === 0 ? [] : [`To go on with it: ${goOnCommand(log.state)}`];
  print([`session ${id} has ended: ${reason}${place}${more}`, ...undone.lines, ...wayBack], {
    session_id: id,
    reason,
    ...undone.value,
    ...(archived !== null && { archived }),
    ...(next !== null && { next }),
  });
}

/** @returns what the end of a session says of the steps that failed or are open; nothing if there are none */
export function undoneSteps({ log }: OpenSession) {
  const steps = unsettledOf([...log.state.steps.values()]);
  if (steps.length === 0) return { lines: [], value: {} };
  return {
    lines: [`not done: ${unsettledWords(steps)}`, ...steps.map((step) => `  ${stepLine(step)}`)],
    value: { not_done: steps.map(({ id, title, status, reason }) => ({ id, title, status, reason })) },
  };
}
