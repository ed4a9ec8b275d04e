/**
 * A notice is a line in the worklog of the session. The log's rules apply only the first one, so that one of several watchers
 * notifies, and each episode is noticed once. A notice is closed when the session resumes; the next episode gets a new one.
 */
import { hasResumed, isNoticed } from '../../memory/condition/stuck.js';
import { type WorklogLine, worklogKind } from '../../memory/fold/rules/kind.js';
import type { Notice } from '../../memory/fold/worklog.js';
import type { Stamp } from '../../memory/logs/line.js';
import type { Memory } from '../../memory/sessions/memory.js';
import type { Finding } from '../../src/jobs/findings.js';
import { judgedOf } from './judge.js';
import { noticeText } from './noticeText.js';
import { mayWork, type Sight } from './terminalSession.js';

/**
 * @returns the notice, if this call has written it; null if there is one already, or the session has ended
 * @throws UnreachableError if the worklog cannot be written
 */
export function openNotice(memory: Memory, sessionId: string, finding: Finding): Notice | null {
  const { rule, since } = finding;
  const line = worklogKind.line('notice', { rule, since, sentence: noticeText(finding, sessionId) });
  return write(memory, sessionId, (log) => (isNoticed(log) ? [] : [line])).notice;
}

/**
 * @returns whether this call has closed it
 * @throws as {@link openNotice}
 */
export function closeNotice(memory: Memory, sessionId: string, { id }: Notice): boolean {
  const line = worklogKind.line('notice_closed', { notice: id });
  return write(memory, sessionId, ({ notices }) => (notices.some((open) => open.id === id) ? [line] : [])).hasWritten;
}

/** @returns whether the session has resumed since it was noticed */
export function hasResumedSinceNotice(sight: Sight): boolean {
  const [notice] = sight.log.recorded.notices;
  return notice !== undefined && hasResumed(notice, { mayWork: mayWork(sight), judged: judgedOf(sight) });
}

function write(
  memory: Memory,
  sessionId: string,
  lines: (state: { readonly notices: readonly Notice[] }) => readonly WorklogLine[],
): { readonly notice: Notice | null; readonly hasWritten: boolean } {
  const session = memory.sessions.open(sessionId);
  const stamp: Stamp = { ...memory.stamp, origin: 'watchkeeper' };
  try {
    const { lifecycle, archived } = session?.log.state ?? {};
    if (session === null || lifecycle === 'ended' || archived !== null) return { notice: null, hasWritten: false };
    const outcomes = session.log.write(lines, stamp, { isFact: true });
    const hasWritten = outcomes.length > 0 && outcomes[0] === null;
    return { notice: hasWritten ? (session.log.state.notices[0] ?? null) : null, hasWritten };
  } finally {
    session?.log.close();
  }
}
