/**
 * What each project sees of an outage: an issue that names its own sessions and no others, because one project's issues may be
 * public and another's private. The outage's own incident belongs to the project with the most sessions. Every other project
 * has an incident beside it that files its issue and notes the end there, but decides nothing about the outage.
 */
import type { Incident } from '../../../src/jobs/incidents.js';
import { outagePartSubject } from '../../../src/jobs/names.js';
import { readReason } from '../../verdict/detectors/reasons.js';
import { decide, type Progress, type SagaContext, writeEvent } from '../sagaContext.js';
import { eventNameOf, incidentEvent } from '../texts/incidentEvents.js';
import { findOutage, newPart } from './newOutage.js';

export class OutageParts {
  private readonly context: SagaContext;

  constructor(context: SagaContext) {
    this.context = context;
  }

  /** Opens the parts of the other projects, keeps their counts equal to the outage's, and wakes them. */
  async keep(outage: Incident, members: readonly Incident[]): Promise<void> {
    const { store, clock, agenda } = this.context;
    if (outage.outcome === null) {
      const others = new Set(members.map(({ project_key }) => project_key));
      others.delete(outage.project_key);
      for (const projectKey of others) await this.keepOne(outage, members, projectKey);
    }
    for (const { incident_id, subject } of await store.records.openIncidents()) {
      const isPart = subject?.kind === 'provider_in_project' && subject.outage === outage.incident_id;
      if (isPart) agenda.driveAt(incident_id, clock.now());
    }
  }

  /** @param outageId the part's outage: the part ends with it */
  async advance(part: Incident, outageId: string): Promise<Progress> {
    const outage = await this.context.store.records.incident(outageId);
    await shareReport(this.context, part, await membersOf(this.context, outageId));
    const isOver = outage === null || outage.outcome !== null;
    if (part.outcome !== null || !isOver) return { waitUntil: null };
    return decide(this.context, part, outage?.outcome ?? 'recovered');
  }

  private async keepOne(outage: Incident, members: readonly Incident[], projectKey: string): Promise<void> {
    const { store, clock, sessions, folders } = this.context;
    const active = sessions.active();
    const known = await store.records.incidentAbout(outagePartSubject(outage.incident_id, projectKey));
    if (known === null) {
      const sessionOf = (id: string) => store.records.session(id);
      const part = await newPart(clock, members, sessionOf, { outage, projectKey, active });
      if (part !== null) await store.incidents.openAbout(part, folders.guard());
      return;
    }
    const finding = findOutage(members, active, projectKey);
    const isLarger = members.length > countIn(known);
    if (isLarger) await store.incidents.save(known, { findings: [finding] }, folders.guard());
  }
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
  const { store, clock, folders, agenda } = context;
  const sharing = members.filter(
    ({ report, project_key }) => report.due_at !== null && project_key === about.project_key,
  );
  for (const member of sharing) {
    const report = { ...member.report, state: url === null ? 'given_up' : 'joined', url, due_at: null } as const;
    const isFirst = member.last_action === 'detected' && url !== null;
    const shared = { ...member, report, last_action: isFirst ? 'reported' : member.last_action } as const;
    if (url !== null) {
      const session = await store.records.session(member.session_id);
      const line = { step: 'reported', event: eventNameOf(member), now: clock.now() } as const;
      await writeEvent(context, incidentEvent(shared, session, line));
    }
    await store.incidents.save(member, { report, last_action: shared.last_action }, folders.guard());
    agenda.driveAt(member.incident_id, clock.now());
  }
}
