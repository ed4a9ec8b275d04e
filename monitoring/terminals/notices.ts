/**
 * A notice is a line in the worklog of the session. The log's rules apply only the first one, so that one of several watchers
 * notifies, and each episode is noticed once. A notice is closed when the session resumes; the next episode gets a new one.
 */
import { isOpenSession } from '../../memory/condition/condition.js';
import { hasResumed, isNoticed } from '../../memory/condition/stuck.js';
import { worklogKind } from '../../memory/fold/rules/kind.js';
import type { Notice, Worklog } from '../../memory/fold/worklog.js';
import type { Memory } from '../../memory/sessions/memory.js';
import type { Finding } from '../../src/jobs/findings.js';
import { inPlainWords } from '../incident/texts/chatTexts.js';
import { ring } from './bell.js';
import { judgedOf } from './judge.js';
import { mayWork, type Sight } from './terminalSession.js';

const BY_ITSELF = { by: 'watchkeeper' } as const;

/**
 * Closes the notice of a session that has resumed, or opens one and rings the terminal of its agent.
 * @param finding the one to notice. Null if there is none
 * @returns the notice, and its change by this call. Null if none is open
 * @throws as {@link openNotice}
 */
export function driveNotice(
  memory: Pick<Memory, 'sessions' | 'surroundings'>,
  sight: Sight,
  finding: Finding | null,
): { readonly notice: Notice; readonly change: 'opened' | 'closed' | null } | null {
  const [open] = sight.log.recorded.notices;
  if (open !== undefined) {
    const isOver = hasResumed(open, { mayWork: mayWork(sight), judged: judgedOf(sight) });
    return { notice: open, change: isOver && closeNotice(memory, sight.id, open) ? 'closed' : null };
  }
  const notice = finding === null ? null : openNotice(memory, sight.id, finding);
  if (notice === null) return null;
  const { present } = sight.runs;
  if (present !== null) ring(present.process, memory.surroundings.process);
  return { notice, change: 'opened' };
}

/** @returns null if there is one already, or the session has ended @throws UnreachableError if the worklog cannot be written */
export function openNotice({ sessions }: Pick<Memory, 'sessions'>, sessionId: string, finding: Finding): Notice | null {
  const { rule, since } = finding;
  const line = worklogKind.line('notice', { rule, since, sentence: noticeText(finding, sessionId) });
  return sessions.withSession(sessionId, (session) => {
    const lines = (state: Worklog) => (isOpen(state) && !isNoticed(state) ? [line] : []);
    const [refusal] = sessions.addFacts(session, lines, BY_ITSELF);
    return refusal === null ? (session.log.state.notices[0] ?? null) : null;
  });
}

/** @returns whether this call has closed it @throws as {@link openNotice} */
export function closeNotice({ sessions }: Pick<Memory, 'sessions'>, sessionId: string, { id }: Notice): boolean {
  const line = worklogKind.line('notice_closed', { notice: id });
  const lines = (state: Worklog) => (isOpen(state) && state.notices.some((open) => open.id === id) ? [line] : []);
  const [refusal] = sessions.addFacts(sessionId, lines, BY_ITSELF);
  return refusal === null;
}

function isOpen({ lifecycle, archived }: Worklog): boolean {
  return isOpenSession({ lifecycle, archived: archived !== null });
}

/** @param sessionId to name it in a command */
export function noticeText(finding: Finding, sessionId: string): string {
  return `${inPlainWords(finding)} ${adviceFor(finding, sessionId)}`;
}

/** @returns why a notice is closed: the session works again, or its agent is gone */
export function closingText(sight: Sight): string {
  const { id, runs } = sight;
  if (mayWork(sight)) return `session ${id} goes on`;
  if (runs.liveness === 'dead' && !runs.hasEnded)
    return `the agent of session ${id} has died; to go on from its record: watchkeeper track resume ${id}`;
  return `the agent of session ${id} has ended`;
}

function adviceFor({ rule }: Finding, sessionId: string): string {
  const again = `stop it and go on from its record: watchkeeper track resume ${sessionId}`;
  if (rule === 'silence')
    return `If it only needs more time: watchkeeper track ping --for 30m --session ${sessionId}. Else interrupt it and ask for smaller steps, or ${again}`;
  return `Interrupt it and ask for smaller steps or another way, or ${again}`;
}
