/**
 * The incidents of an outage. Each project sees an issue that names its own sessions and no others, because one project's issues
 * may be public and another's private. The outage's own incident belongs to the project with the most sessions. Every other
 * project has a further incident that files its issue and notes the end there, but decides nothing about the outage.
 */

import { DEFAULT_ACTIONS } from '../../../src/config/projects.js';
import type { IncidentRule } from '../../../src/config/rules.js';
import type { Finding } from '../../../src/jobs/findings.js';
import type { Incident } from '../../../src/jobs/incidents.js';
import { outagePartSubject } from '../../../src/jobs/names.js';
import { isoTime, SECOND } from '../../../src/time.js';
import { countedReason, readReason } from '../../verdict/detectors/reasons.js';
import { newIncident } from '../newIncident.js';
import { decide, logStep, type Progress, type SagaContext, save, wake } from '../sagaContext.js';
import { eventNameOf } from '../texts/incidentEvents.js';
import { signOfOutage } from './evidence.js';

/** Agents do not all notice in the same instant that their provider is gone. */
export const SETTLE_MS = 5 * SECOND;
/** Further ones are counted. */
const MOST_NAMED = 10;

/** @returns null if none of the affected incidents' sessions is left */
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

/** For another project than its own: an issue that decides nothing. @returns null if none of its sessions is left */
async function newPart(
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
    // Sessions that notice a moment later belong in the same text.
    report: { ...base.report, due_at: base.opened_at + SETTLE_MS },
    ...(shown.logs_id !== undefined && { logs_id: shown.logs_id }),
  };
}

/** Others than the project's sessions are just counted: its readers may be the public. @param affected at least one */
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
  const names = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  // Its own may have left the outage, by a cancellation for example.
  return [names, others === 0 ? '' : `${others} of other projects`].filter((part) => part !== '').join(', and ');
}

/** @returns the most frequent name; the first to appear among equals */
function mostFrequent(names: readonly string[]): string {
  const count = (name: string) => names.filter((other) => other === name).length;
  return names.reduce((best, name) => (count(name) > count(best) ? name : best), '');
}

/** Opens the parts of the other projects, keeps their counts equal to the outage's, and wakes them. */
export async function keepParts(context: SagaContext, outage: Incident, members: readonly Incident[]): Promise<void> {
  if (outage.outcome === null) {
    const others = new Set(members.map(({ project_key }) => project_key));
    others.delete(outage.project_key);
    for (const projectKey of others) await keepPart(context, outage, members, projectKey);
  }
  for (const { incident_id, subject } of await context.store.records.openIncidents()) {
    if (subject?.kind === 'provider_in_project' && subject.outage === outage.incident_id) wake(context, incident_id);
  }
}

async function keepPart(
  context: SagaContext,
  outage: Incident,
  members: readonly Incident[],
  projectKey: string,
): Promise<void> {
  const { store, sessions, folders } = context;
  const known = await store.records.incidentAbout(outagePartSubject(outage.incident_id, projectKey));
  if (known === null) {
    const part = await newPart(context, members, outage, projectKey);
    if (part !== null) await store.incidents.openAbout(part, folders.guard());
  } else if (members.length > countIn(known)) {
    await save(context, known, { findings: [findOutage(members, sessions.active(), projectKey)] });
  }
}

/** @param outageId the part's outage: the part ends with it */
export async function advancePart(context: SagaContext, part: Incident, outageId: string): Promise<Progress> {
  const outage = await context.store.records.incident(outageId);
  await shareReport(context, part, await membersOf(context, outageId));
  const isOver = outage === null || outage.outcome !== null;
  if (part.outcome !== null || !isOver) return { waitUntil: null };
  return decide(context, part, outage?.outcome ?? 'recovered');
}

export async function membersOf({ store }: SagaContext, outageId: string): Promise<Incident[]> {
  const open = await store.records.openIncidents();
  return open.filter(({ hold }) => hold?.incident_id === outageId);
}

/** @returns how many sessions are affected, according to the outage or a project's part of it */
export function countIn({ findings }: Incident): number {
  const reason = readReason(findings[0]?.reason ?? '');
  return reason?.kind === 'counted' ? reason.count : 0;
}

/** A project has one issue for an outage, shared by all its sessions that the outage holds. */
export async function shareReport(context: SagaContext, about: Incident, members: readonly Incident[]): Promise<void> {
  const { url, due_at } = about.report;
  if (url === null && due_at !== null) return;
  const sharing = members.filter(
    ({ report, project_key }) => report.due_at !== null && project_key === about.project_key,
  );
  for (const member of sharing) {
    const report = { ...member.report, state: url === null ? 'given_up' : 'joined', url, due_at: null } as const;
    const isFirst = member.last_action === 'detected' && url !== null;
    const action = isFirst ? 'reported' : member.last_action;
    if (url !== null) {
      const session = await context.store.records.session(member.session_id);
      await logStep(context, { ...member, report }, session, { step: 'reported', event: eventNameOf(member), action });
    }
    await save(context, member, { report, last_action: action });
    wake(context, member.incident_id);
  }
}
