/**
 * The log lines of a run: one at its beginning, one at its end. Their sentences never contain words of agents or people. How a
 * failed run ended is often known only in its agent's words, so these are a field, marked as untrusted.
 */

import { describeCrash } from '../../monitoring/verdict/detectors/crash.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { Logger } from '../../src/log/logger.js';
import { redactShapes } from '../../src/log/redact.js';
import { shorten } from '../../src/log/shorten.js';
import { describeDuration } from '../../src/time.js';
import type { EndedRun } from './storeEnd.js';

const LONGEST_END = 400;

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
  const words =
    end.kind === 'failed'
      ? `: ${describeCrash(end.reason)}`
      : reason === null
        ? ''
        : `, ${reason.replaceAll('_', ' ')}`;
  const how = `${outcome}${words}`;
  const counted = `${calls} ${calls === 1 ? 'call' : 'calls'}`;
  const said = `session ${session_id}: run ended (${how}, ${describeDuration(tookMs)}, ${counted})`;
  logger.info(
    {
      ...{ session_id, project_key, run_id: runId, outcome, reason, duration_ms: Math.round(tookMs), calls },
      // It was redacted when it was heard, before it is cut here.
      ...(end.kind === 'failed' &&
        end.detail !== '' && { untrusted_end: shorten(redactShapes(end.detail), LONGEST_END) }),
    },
    said,
  );
}
