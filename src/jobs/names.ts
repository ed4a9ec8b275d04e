/** Names that several records share. */
import type { Incident } from './incidents.js';

/** @returns a conversation key for a place: a project's chat, topic, and how often it was begun anew */
export function conversationKey(projectKey: string, chatId: string, threadId: string | null, epoch: number): string {
  return `${projectKey}/${chatId}/${threadId ?? ''}/${epoch}`;
}

/** @returns the lane of a directory on a host; one run at a time works in it */
export function laneOf(host: string, realDirectory: string): string {
  return `${host}:${realDirectory}`;
}

/** @returns what an incident is about, as a name; null where it is about the run of its session */
export function subjectName({
  subject,
  project_key,
  logs_id,
}: Pick<Incident, 'subject' | 'project_key' | 'logs_id'>): string | null {
  if (subject === undefined) return null;
  switch (subject.kind) {
    case 'lane':
      return `lane:${subject.lane}`;
    case 'queue':
      return `queue:${subject.host}:${project_key}`;
    case 'provider':
      return providerSubject(logs_id);
    case 'provider_in_project':
      return outagePartSubject(subject.outage, project_key);
    default:
      return subject satisfies never;
  }
}

/** Each watchdog counts the sessions that it judges, so there is one name per logs folder. */
export function providerSubject(logsId: string | undefined): string {
  return logsId === undefined ? 'provider' : `provider:${logsId}`;
}

/** @returns the name of what a project hears of an outage whose own incident is another project's */
export function outagePartSubject(outageId: string, projectKey: string): string {
  return `outage-part:${outageId}:${projectKey}`;
}

/** @returns the host part of a lane */
export function hostOfLane(lane: string): string {
  return lane.slice(0, lane.indexOf(':'));
}
