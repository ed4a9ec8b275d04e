/** The log lines of a run: one at its beginning, one at its end. They never contain words of agents or people. */

import type { AgentSession } from '../../src/jobs/model.js';
import type { Logger } from '../../src/log/logger.js';
import { describeDuration } from '../../src/time.js';
import type { EndedRun } from './storeEnd.js';

/** @param pid the agent's; null if it has no process or could not be started */
export function logRunStart(logger: Logger, session: AgentSession, runId: string, pid: number | null): void {
  const { session_id, project_key, agent, attempt } = session;
  const process = pid === null ? 'no process' : `process ${pid}`;
  const said = `session ${session_id}: run started (project ${project_key}, agent ${agent}, ${process}, attempt ${attempt})`;
  logger.info({ session_id, project_key, agent, attempt, run_id: runId, agent_pid: pid }, said);
}

export function logRunEnd(logger: Logger, session: AgentSession, ended: EndedRun, tookMs: number): void {
  const { session_id, project_key } = session;
  const { runId, end, stopCause } = ended;
  const { calls } = ended.activity;
  const outcome = end.kind;
  const reason = end.kind === 'failed' ? end.reason : end.kind === 'stopped' ? stopCause : null;
  const how = reason === null ? outcome : `${outcome}, ${reason.replaceAll('_', ' ')}`;
  const counted = `${calls} ${calls === 1 ? 'call' : 'calls'}`;
  const said = `session ${session_id}: run ended (${how}, ${describeDuration(tookMs)}, ${counted})`;
  logger.info(
    { session_id, project_key, run_id: runId, outcome, reason, duration_ms: Math.round(tookMs), calls },
    said,
  );
}
