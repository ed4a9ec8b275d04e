/** The log lines of an incident: each thing once, and never any words of agents or people. */

import type { IncidentRule } from '../../../src/config/rules.js';
import type { Finding } from '../../../src/jobs/findings.js';
import type { Incident } from '../../../src/jobs/incidents.js';
import type { Logger } from '../../../src/log/logger.js';
import { describeDuration } from '../../../src/time.js';
import { describeFinding } from '../../verdict/describe.js';

/** A rule became true: the incident was opened for it, or it joined. */
export function logAccusation(logger: Logger, incident: Incident, findings: readonly Finding<IncidentRule>[]): void {
  for (const finding of findings) {
    const { rule, reason, since } = finding;
    const said = `session ${incident.session_id}, ${rule}: ${describeFinding(finding)}`;
    logger.warn({ ...subjectOf(incident), rule, reason, since }, said);
  }
}

/** The message was put back into the queue, once. */
export function logRevival(logger: Logger, incident: Incident): void {
  const { session_id, revival_session_id } = incident;
  const said = `session ${session_id}: its message is run once more, as ${revival_session_id}`;
  logger.info({ ...subjectOf(incident), revival_session_id }, said);
}

/** @param closed the incident after closing */
export function logClosing(logger: Logger, closed: Incident): void {
  const { incident_id, session_id, outcome, rule, opened_at, closed_at, report } = closed;
  const lastedMs = Math.max((closed_at ?? opened_at) - opened_at, 0);
  const said = `incident ${incident_id} of session ${session_id} is closed: ${outcome} after ${describeDuration(lastedMs)}`;
  logger.info({ ...subjectOf(closed), rule, outcome, lasted_ms: lastedMs, issue: report.url }, said);
}

function subjectOf({ session_id, incident_id, project_key, attempt }: Incident) {
  return { session_id, incident_id, project_key, attempt };
}
