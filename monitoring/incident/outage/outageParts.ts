/**
 * What each project sees of an outage: an issue that names its own sessions and no others, because one project's issues may be
 * public and another's private. The outage's own incident belongs to the project with the most sessions. Every other project
 * has an incident beside it that files its issue and notes the end there, but decides nothing about the outage.
 */
import type { Incident } from '../../../src/jobs/incidents.js';
import { outagePartSubject } from '../../../src/jobs/names.js';
import { readReason } from '../../verdict/detectors/reasons.js';
import { decide, logStep, type Progress, type SagaContext, save, wake } from '../sagaContext.js';
import { eventNameOf } from '../texts/incidentEvents.js';
import { findOutage, newPart } from './newOutage.js';

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

/** @returns the incidents that the outage holds */
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
