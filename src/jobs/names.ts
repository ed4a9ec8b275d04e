/** Names that several records share. */
import { botOfSession } from '../ids.js';
import type { Incident } from './incidents.js';
import type { AgentSession } from './model.js';

/** @returns the conversation key of a place: a project's chat, its topic, and how often a new conversation was started there */
export function conversationKey(projectKey: string, chatId: string, threadId: string | null, epoch: number): string {
  return `${projectKey}/${chatId}/${threadId ?? ''}/${epoch}`;
}

/** @returns the lane of a directory on a host; one run at a time works in it */
export function laneOf(host: string, realDirectory: string): string {
  return `${host}:${realDirectory}`;
}

/** @returns the name of an incident's subject; null if it is about the run of its session */
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

/** @returns the name of the incident that reports an outage to a project, if the outage's own incident is another project's */
export function outagePartSubject(outageId: string, projectKey: string): string {
  return `outage-part:${outageId}:${projectKey}`;
}

export function hostOfLane(lane: string): string {
  return lane.slice(0, lane.indexOf(':'));
}

/** @param bot whose numbers are marked; null if they are not */
export function markedNumber(messageId: string, bot: string | null): string {
  return bot === null ? messageId : `b${bot}:${messageId}`;
}

/** @returns the parts of the key under which a session's message is known */
export function messageOf({
  session_id,
  project_key,
  request,
}: AgentSession): [project: string, chat: string, id: string] {
  return [project_key, request.chat_id, markedNumber(request.message_id, botOfSession(session_id))];
}
