/** An incident as a line of `critical_events.jsonl`, a full snapshot each; and its log lines, without words of agents or people. */
import { stepPlace, stepWords } from '../../../memory/observed/step.js';
import type { IncidentRule } from '../../../src/config/rules.js';
import type { Finding } from '../../../src/jobs/findings.js';
import type {
  AgentName,
  CriticalEvent,
  CriticalEventName,
  Incident,
  IncidentOutcome,
  IncidentStep,
} from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import type { Logger } from '../../../src/log/logger.js';
import { describeDuration, isoTime } from '../../../src/time.js';
import { describeFinding } from '../../verdict/describe.js';

export interface IncidentLine {
  /** The part of the id behind the incident's: a replayed step has the same id and is dropped by readers. */
  readonly step: Exclude<IncidentStep, 'opened' | 'stopping' | 'released'> | 'reported';
  readonly event: CriticalEventName;
  /** Only in the closing line. */
  readonly outcome?: IncidentOutcome;
}

/** @param now epoch milliseconds */
export function incidentEvent(
  incident: Incident,
  session: AgentSession | null,
  { step, event, outcome }: IncidentLine,
  now: number,
): CriticalEvent {
  const reached = incident.reached === undefined ? null : stepWords(incident.reached);
  return {
    v: 1,
    id: `${incident.incident_id}.${step}`,
    incident_id: incident.incident_id,
    final: outcome !== undefined,
    timestamp: isoTime(now),
    event,
    session_id: incident.session_id,
    project_key: incident.project_key,
    reason: leadingReason(incident),
    rule: incident.rule,
    action_taken: incident.last_action,
    github_issue: incident.report.url,
    details: {
      last_tool_call: incident.last_tool_call,
      tool_count: incident.tool_count,
      attempt: incident.attempt,
      findings: incident.findings.map((finding) => ({ ...finding, sentence: describeFinding(finding, reached) })),
      waits_considered: incident.findings.flatMap((finding) => finding.waits_considered),
      revival_session_id: incident.revival_session_id,
      not_revived_because: incident.not_revived_because,
      report: { state: incident.report.state, last_error: incident.report.last_error },
      ran_since: session?.started_at === null || session === null ? null : isoTime(session.started_at),
      outcome: outcome ?? null,
    },
    ...(incident.reached && { step: incident.reached }),
    ...(session !== null &&
      incident.subject === undefined && { agent: agentOf(session), asked: session.request.message_text }),
    ...(incident.untrusted_excerpt ? { untrusted_excerpt: incident.untrusted_excerpt } : {}),
  };
}

export function agentOf({ agent, run }: AgentSession): AgentName {
  return { name: agent, version: run?.agent_version ?? null };
}

/** @returns the event of every line but the closing one of a session's incident */
export function eventNameOf({ subject }: Incident): CriticalEventName {
  if (subject === undefined) return 'session_unhealthy';
  return subject.kind === 'lane' || subject.kind === 'queue' ? 'queue_stalled' : 'provider_outage';
}

export function leadingFinding(incident: Incident): Finding<IncidentRule> | null {
  return incident.findings.find((finding) => finding.rule === incident.rule) ?? incident.findings[0] ?? null;
}

/** @returns e.g. `silent_for_15_minutes` */
export function leadingReason(incident: Incident): string {
  return leadingFinding(incident)?.reason ?? incident.rule;
}

/** A rule became true: the incident was opened for it, or it joined. */
export function logAccusation(logger: Logger, incident: Incident, findings: readonly Finding<IncidentRule>[]): void {
  const reached = incident.reached === undefined ? null : stepPlace(incident.reached);
  for (const finding of findings) {
    const { rule, reason, since } = finding;
    const said = `session ${incident.session_id}, ${rule}: ${describeFinding(finding, reached)}`;
    logger.warn({ ...subjectOf(incident), rule, reason, since }, said);
  }
}

/** The message was put back into the queue, once. */
export function logRevival(logger: Logger, incident: Incident): void {
  const { session_id, revival_session_id } = incident;
  const said = `session ${session_id}: its message is run again as ${revival_session_id}`;
  logger.info({ ...subjectOf(incident), revival_session_id }, said);
}

export function logClosing(logger: Logger, closed: Incident): void {
  const { incident_id, session_id, outcome, rule, opened_at, closed_at, report } = closed;
  const lastedMs = Math.max((closed_at ?? opened_at) - opened_at, 0);
  const said = `incident ${incident_id} of session ${session_id} is closed: ${outcome} after ${describeDuration(lastedMs)}`;
  logger.info({ ...subjectOf(closed), rule, outcome, lasted_ms: lastedMs, issue: report.url }, said);
}

function subjectOf({ session_id, incident_id, project_key, attempt }: Incident) {
  return { session_id, incident_id, project_key, attempt };
}

/** @returns the clauses of ours and of the agent that the reader has not seen in `said`. Untrusted */
export function endWords(excerpt: string | null | undefined, said: readonly string[]): string {
  const known = new Set(said.map(bare));
  const clauses = (excerpt ?? '').split('; ').filter((clause) => !known.has(bare(clause)));
  return clauses.join('; ').trim();
}

function bare(clause: string): string {
  return clause.trim().replace(/\.$/, '');
}
