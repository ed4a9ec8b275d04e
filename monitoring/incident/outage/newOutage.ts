/** How an outage's incident begins. */

import { DEFAULT_ACTIONS } from '../../../src/config/projects.js';
import type { IncidentRule } from '../../../src/config/rules.js';
import type { Finding } from '../../../src/jobs/findings.js';
import type { Incident } from '../../../src/jobs/incidents.js';
import { isoTime, SECOND } from '../../../src/time.js';
import { countedReason } from '../../verdict/detectors/reasons.js';
import { newIncident } from '../newIncident.js';
import type { SagaContext } from '../sagaContext.js';
import { signOfOutage } from './evidence.js';

/** Agents do not all notice in the same instant that their provider is gone. */
export const SETTLE_MS = 5 * SECOND;
/** Further ones are counted. */
const MOST_NAMED = 10;

/**
 * It belongs to the project with the most sessions among them. The other projects get a part of it ({@link newPart}).
 * @param affected the incidents that make the outage
 * @returns null if none of the sessions is left
 */
export async function newOutage(context: SagaContext, affected: readonly Incident[]): Promise<Incident | null> {
  const base = await incidentOf(context, affected, mostFrequent(affected.map(({ project_key }) => project_key)));
  return (
    base && {
      ...base,
      subject: { kind: 'provider' },
      course: {
        phase: 'down',
        has_members: false,
        probes: 0,
        next_probe_at: base.opened_at,
        out: null,
        out_since: null,
      },
    }
  );
}

/**
 * The outage for another project than its own: an incident with an issue, which decides nothing.
 * @param affected the incidents of all projects that the outage holds
 * @returns null if none of the project's sessions is left
 */
export async function newPart(
  context: SagaContext,
  affected: readonly Incident[],
  outage: Incident,
  projectKey: string,
): Promise<Incident | null> {
  const base = await incidentOf(context, affected, projectKey);
  return base && { ...base, subject: { kind: 'provider_in_project', outage: outage.incident_id } };
}

async function incidentOf(
  { store, clock, sessions }: SagaContext,
  affected: readonly Incident[],
  projectKey: string,
): Promise<Incident | null> {
  const shown = affected.find(({ project_key }) => project_key === projectKey);
  const session = shown === undefined ? null : await store.records.session(shown.session_id);
  if (shown === undefined || session === null) return null;
  const finding = findOutage(affected, sessions.active(), projectKey);
  const base = newIncident(clock, {
    session,
    findings: [{ ...finding, rule: 'silence' }],
    // Its own steps end no run: those of the sessions' own incidents do.
    actions: { ...DEFAULT_ACTIONS, silence: 'report' },
    toolCount: shown.tool_count,
    lastToolCall: shown.last_tool_call,
  });
  return {
    ...base,
    rule: 'provider_outage',
    findings: [finding],
    attempt: 1,
    // Sessions that notice a moment later belong in the same text.
    report: { ...base.report, due_at: base.opened_at + SETTLE_MS },
    ...(shown.logs_id !== undefined && { logs_id: shown.logs_id }),
  };
}

/**
 * A project's readers may be the public, so only sessions of the project itself are named; others are just counted.
 * @param affected the incidents that make the outage, at least one
 * @param active how many sessions are active
 * @param projectKey the project of the issue
 */
export function findOutage(affected: readonly Incident[], active: number, projectKey: string): Finding<IncidentRule> {
  const since = Math.max(...affected.map((incident) => signOfOutage(incident) ?? incident.opened_at));
  return {
    rule: 'provider_outage',
    reason: countedReason('provider_outage', affected.length),
    since: isoTime(since),
    evidence: [
      `${affected.length} of ${Math.max(active, affected.length)} active sessions turned unhealthy together`,
      describeRules(affected),
      "the model's provider seems to be down",
      `sessions: ${namesOf(affected, projectKey)}`,
    ],
    waits_considered: [],
  };
}

function describeRules(affected: readonly Incident[]): string {
  const counts = new Map<IncidentRule, number>();
  for (const { rule } of affected) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return [...counts].map(([rule, count]) => `${count} by ${rule.replaceAll('_', ' ')}`).join(', ');
}

function namesOf(affected: readonly Incident[], projectKey: string): string {
  const own = affected.filter(({ project_key }) => project_key === projectKey);
  const named = own.slice(0, MOST_NAMED).map(({ session_id }) => session_id);
  const more = own.length - named.length;
  const others = affected.length - own.length;
  const beside = others === 0 ? '' : `, and ${others} of other projects`;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}${beside}`;
}

/** @returns the most frequent name; the first to appear among equals */
function mostFrequent(names: readonly string[]): string {
  const count = (name: string) => names.filter((other) => other === name).length;
  return names.reduce((best, name) => (count(name) > count(best) ? name : best), '');
}
