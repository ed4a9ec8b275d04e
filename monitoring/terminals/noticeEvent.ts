/** A notice as a critical event: one line, which nothing follows. It has no words of the person or the agent. */
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import type { Logger } from '../../src/log/logger.js';
import { type EventLog, noticeEvent } from '../events/notice.js';
import { describeFinding } from '../verdict/describe.js';
import type { NoticedSession } from './terminalWatch.js';

/** @param noticed found by this process, or by another watcher of the session */
function terminalEvent({ notice, sight, project }: NoticedSession): CriticalEvent {
  const { assessment, findings, id, runs } = sight;
  const finding = findings.find(({ rule }) => rule === notice.rule);
  const rule = finding?.rule ?? null;
  const details = {
    last_tool_call: assessment?.last_tool_call ?? null,
    tool_count: assessment?.tool_count ?? 0,
    attempt: 1,
    findings: findings.map((found) => ({ ...found, sentence: describeFinding(found) })),
    waits_considered: findings.flatMap((found) => found.waits_considered),
    liveness: runs.liveness,
  };
  return {
    ...noticeEvent(
      {
        incident_id: notice.id,
        step: 'noticed',
        event: 'session_unhealthy',
        reason: finding?.reason ?? notice.rule,
        details,
        session_id: id,
        project_key: project,
      },
      notice.at,
    ),
    rule,
  };
}

/** @throws UnreachableError if it cannot be written */
export async function logTerminalNotice(events: EventLog, logger: Logger, noticed: NoticedSession): Promise<void> {
  const event = terminalEvent(noticed);
  await events.logCriticalEvent(event);
  const { session_id, project_key, rule, reason } = event;
  const [finding] = noticed.sight.findings;
  const what = finding === undefined ? reason : describeFinding(finding);
  logger.warn(
    { session_id, project_key, rule, reason },
    `the session ${session_id} of a terminal seems stuck: ${what}`,
  );
}
