/** An incident as an occurrence on an issue: where it is filed, and with which text. */

import { readStep } from '../../../memory/observed/step.js';
import { UnreachableError, UsageError } from '../../../src/errors.js';
import { firstAttemptId } from '../../../src/ids.js';
import type { AgentName, CriticalEvent, Incident, IncidentReport } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { journalPath } from '../../../src/journal/path.js';
import { type RecentToolCall, readRecentToolCalls } from '../../../src/journal/readRecentToolCalls.js';
import { type Backoff, type Clock, HOUR, pauseAfter, SECOND } from '../../../src/time.js';
import { describeFinding } from '../../verdict/describe.js';
import type { Occurrence, ReportedCall } from '../issue/issueRecords.js';
import { needsOf } from '../issue/needs.js';
import type { ProjectIssues, ReportOutcome } from '../issue/projectIssues.js';
import { whatWasDoneAboutOutage } from '../outage/outageSteps.js';
import { RefusedError, type Reporter } from '../sagaContext.js';
import { agentOf, endWords, leadingFinding } from '../texts/incidentEvents.js';

const CALLS_REPORTED = 20;
const BACKOFF: Backoff = { firstMs: 2 * SECOND, longestMs: HOUR };

const WAITS = 'Only reported: waiting messages keep their place and start as soon as a worker takes them.';
const LOG_TAKES_NOTHING =
  'The log of critical events could not be written at that time; its lines are kept in Redis until it can.';
const NO_MORE = 'Nothing was done; the rule is no longer true.';

/** The end of the message of an incident whose record is lost, as far as the records of its session say. */
export type ForgottenEnd = 'answered' | 'cancelled' | 'unknown';

const FORGOTTEN: Readonly<Record<ForgottenEnd, (sessionId: string) => string>> = {
  answered: () => 'The message was answered.',
  cancelled: () => 'A person cancelled the message.',
  unknown: (id) =>
    `Redis lost the record of this incident: \`watchkeeper session ${id}\` says what became of the message.`,
};

/** The issues of each project; null for a project that is no longer configured. */
interface IssuesOfProjects {
  of(projectKey: string): ProjectIssues | null;
}

export class IncidentReporter implements Reporter {
  readonly #clock: Clock;
  readonly #logsFolder: string;
  readonly #issues: IssuesOfProjects;
  readonly #events: { readonly trouble: string | null };

  /** @param events whose trouble keeps lines from its file; the issue then says so */
  constructor(clock: Clock, logsFolder: string, issues: IssuesOfProjects, events: { readonly trouble: string | null }) {
    this.#clock = clock;
    this.#logsFolder = logsFolder;
    this.#issues = issues;
    this.#events = events;
  }

  async report(incident: Incident, session: AgentSession | null): Promise<IncidentReport> {
    const tries = incident.report.tries + 1;
    const { state, url, retry_at, error, refused } = await this.#file(incident, session);
    const report = { state, url, tries, last_error: error, ...(refused && { refused }) };
    if (retry_at === null) return { ...report, due_at: null };
    return { ...report, due_at: Math.max(retry_at, this.#clock.now() + pauseAfter(tries, BACKOFF)) };
  }

  async noteOutcome(incident: Incident): Promise<void> {
    throwUnlessNoted(await this.#file(incident, null));
  }

  /** The issue of a lost record says so: nothing else would change it. @throws as {@link noteOutcome} */
  async noteForgotten(latest: CriticalEvent, end: ForgottenEnd): Promise<void> {
    const { project_key, session_id, rule } = latest;
    const issues = project_key === null ? null : this.#issues.of(project_key);
    if (issues === null || project_key === null || session_id === null || rule === null) return;
    const words = FORGOTTEN[end](session_id);
    const outcome = await issues.noteInOpenIssue({
      ...{ incident_id: latest.incident_id, session_id, project_key, rule },
      at: Date.parse(latest.timestamp),
      duration_ms: null,
      attempt: firstAttemptId(session_id) === session_id ? 1 : 2,
      step: latest.step ?? null,
      finding: `The rule ${rule} was true.`,
      needs: { who: end === 'unknown' ? 'person' : 'nobody', what: words },
      host: null,
      journal: journalPath(this.#logsFolder, session_id),
      done: 'Redis lost the record of this incident, and nothing follows it any more.',
      excerpt: latest.untrusted_excerpt ?? null,
      calls: [],
    });
    throwUnlessNoted(outcome);
  }

  async #file(incident: Incident, session: AgentSession | null): Promise<ReportOutcome> {
    const issues = this.#issues.of(incident.project_key);
    if (issues === null) {
      const error = `the project "${incident.project_key}" is not configured`;
      return { state: 'given_up', url: null, retry_at: null, error };
    }
    return issues.createInvestigationIssue(await this.#occurrence(incident, session));
  }

  async #occurrence(incident: Incident, session: AgentSession | null): Promise<Occurrence> {
    const finding = leadingFinding(incident);
    const path = journalPath(this.#logsFolder, incident.session_id);
    const calls = await readRecentToolCalls(path, CALLS_REPORTED);
    return {
      incident_id: incident.incident_id,
      session_id: incident.session_id,
      project_key: incident.project_key,
      rule: incident.rule,
      at: incident.opened_at,
      duration_ms: session?.started_at === null || session === null ? null : incident.opened_at - session.started_at,
      attempt: incident.attempt,
      step: incident.reached ?? (await readStep(path)),
      finding: finding === null ? `The rule ${incident.rule} was true.` : describeFinding(finding),
      needs: needsOf(incident),
      ...(session !== null &&
        incident.subject === undefined && { agent: agentWords(agentOf(session)), asked: session.request.message_text }),
      host: session?.run?.owner.host ?? null,
      journal: path,
      done: this.#events.trouble === null ? whatWasDone(incident) : `${whatWasDone(incident)} ${LOG_TAKES_NOTHING}`,
      excerpt: endWords(incident.untrusted_excerpt, finding?.evidence ?? []) || null,
      calls: calls.map(reportedCall),
    };
  }
}

function throwUnlessNoted(outcome: ReportOutcome | null): void {
  if (outcome === null || outcome.error === null) return;
  const said = `the issue does not show how it ended: ${outcome.error}`;
  if (outcome.state === 'given_up') throw new UsageError(said);
  throw outcome.refused === true ? new RefusedError(said) : new UnreachableError(said);
}

/** @returns what the watchdog did about the incident so far, in a sentence */
export function whatWasDone(incident: Incident): string {
  if (incident.rule === 'provider_outage') return whatWasDoneAboutOutage(incident);
  if (incident.subject !== undefined) return incident.outcome === null ? WAITS : NO_MORE;
  switch (incident.outcome) {
    case 'recovered':
      return incident.acting
        ? `The message was run again as ${incident.revival_session_id}, and that attempt answered it.`
        : NO_MORE;
    case 'answered':
      return 'The answer arrived before the run was ended, so nothing was done.';
    case 'put_back':
      return 'The run was interrupted, by its bridge or a limit of the provider; its message is back in its queue.';
    case 'cancelled_by_person':
      return 'A person cancelled the message.';
    case 'revival_failed':
      return `The message was run again as ${incident.revival_session_id}, and that attempt failed as well.`;
    case 'told':
      return `The chat was notified of the failure (${incident.last_action.replaceAll('_', ' ')}).`;
    case null:
      if (!incident.acting) return 'Only reported: the run continues.';
      if (incident.is_running_noted)
        return `The message was run again as ${incident.revival_session_id}, and that attempt is running.`;
      if (incident.attempt === 2) return 'The run is ended and the chat is notified; this was the second attempt.';
      return incident.not_revived_because === null
        ? 'The run is ended and the message is run once more.'
        : `The run is ended and the chat is notified; the message is not run again: ${incident.not_revived_because}.`;
    default:
      return `The incident ended: ${incident.outcome.replaceAll('_', ' ')}.`;
  }
}

function agentWords({ name, version }: AgentName): string {
  return version === null ? name : `${name} ${version}`;
}

function reportedCall(call: RecentToolCall): ReportedCall {
  return {
    at: call.at,
    tool: call.tool_name,
    outcome: call.outcome ?? 'in_flight',
    duration_ms: call.duration_ms,
    input: typeof call.tool_input === 'string' ? call.tool_input : (JSON.stringify(call.tool_input) ?? ''),
    output: call.tool_output_preview ?? '',
  };
}
