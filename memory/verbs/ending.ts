/** The end of a session, as `track done` and `work end` say it. */
import { resumeCommand } from '../brief/resuming.js';
import { unsettledOf } from '../fold/state.js';
import { archiveDone } from '../keeping/archive.js';
import { type Continuing, continueAfter } from '../programs/afterEnd.js';
import type { Ending } from '../sessions/lifecycle.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { stepLine, unsettledWords } from '../show/status.js';
import { putAway } from './followUps.js';
import type { Outcome } from './verb.js';

/**
 * Ends the session, and archives it if all its phases are done.
 * @returns also which steps are not done
 * @throws RefusedError if it has ended already, or in the memory of a bridge
 */
export function endSession(memory: Continuing & Pick<Memory, 'lifecycle'>, session: OpenSession, ending: Ending) {
  const { id, log } = session;
  const { reason } = ending;
  memory.lifecycle.end(session, memory.workspaceOf(log.state), ending);
  const next = continueAfter(memory, session);
  const archived = archiveDone(memory, session);
  const place = archived === null ? '' : `; it is in the archive: ${archived}`;
  const more = next === null ? '' : `; what its agent is asked from now on is recorded in session ${next}`;
  const undone = undoneSteps(session);
  const wayBack = undone.lines.length === 0 ? [] : [`To go on with it: ${resumeCommand(log.state)}`];
  return {
    lines: [`session ${id} has ended: ${reason}${place}${more}`, ...undone.lines, ...wayBack],
    value: {
      session_id: id,
      reason,
      ...undone.value,
      ...(archived !== null && { archived }),
      ...(next !== null && { next }),
    },
    followUps: putAway(session),
  } satisfies Outcome;
}

/**
 * Ends and archives a session by itself, if its last phase was settled and all are completed or skipped. For the writer of that line.
 * @returns null if it stays. Otherwise its folder in the archive, and the session in which its agent continues; null if there is none
 */
export function archiveWhenDone(
  memory: Continuing,
  session: OpenSession,
): { readonly archived: string; readonly next: string | null } | null {
  const hadEnded = session.log.state.lifecycle === 'ended';
  const archived = archiveDone(memory, session);
  if (archived === null) return null;
  return { archived, next: hadEnded ? null : continueAfter(memory, session) };
}

/** @returns what a verb that may have settled the last phase adds to its outcome; `archived` is null if the session stays */
export function afterMoves(memory: Continuing, session: OpenSession) {
  const archived = archiveWhenDone(memory, session)?.archived ?? null;
  if (archived === null) return { archived, lines: [], value: {}, more: {} };
  return {
    archived,
    lines: [`all phases of session ${session.id} are done; it is in the archive: ${archived}`],
    value: { archived },
    more: { followUps: putAway(session) },
  };
}

/** @returns the report of a session's end on steps that failed or are open; empty if there are none */
export function undoneSteps({ log }: OpenSession) {
  const steps = unsettledOf([...log.state.steps.values()]);
  if (steps.length === 0) return { lines: [], value: {} };
  return {
    lines: [`not done: ${unsettledWords(steps)}`, ...steps.map((step) => `  ${stepLine(step)}`)],
    value: { not_done: steps.map(({ id, title, status, reason }) => ({ id, title, status, reason })) },
  };
}
