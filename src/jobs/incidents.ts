/** The consequences of findings: the record of an incident, its report and its outage, and its critical events. */
import * as z from 'zod';
import { INCIDENT_RULES, type IncidentRule } from '../config/rules.js';
import { finding } from './findings.js';

/** At `opened` nothing outside Redis has happened yet. */
export const INCIDENT_STEPS = ['opened', 'detected', 'stopping', 'released', 'revived', 'told', 'closed'] as const;
export type IncidentStep = (typeof INCIDENT_STEPS)[number];

export const REPORT_STATES = ['pending', 'filed', 'joined', 'capped', 'ambiguous', 'given_up'] as const;
export type ReportState = (typeof REPORT_STATES)[number];

const INCIDENT_ACTIONS = [
  'detected',
  'reported',
  'revival_attempted',
  'failure_message_sent',
  'failure_message_unknown',
  'failure_message_given_up',
  'suppressed',
] as const;
/** `noticed`: of a session that Watchkeeper does not run. Its person can see it, and nothing follows. */
export const ACTIONS_TAKEN = [...INCIDENT_ACTIONS, 'noticed'] as const;
export type ActionTaken = (typeof ACTIONS_TAKEN)[number];
export type IncidentAction = (typeof INCIDENT_ACTIONS)[number];

/** Why an incident closed. `session_…` and `revival_…`: how its session, or the second attempt, ended. */
export const INCIDENT_OUTCOMES = [
  'recovered',
  'answered',
  'told',
  'cancelled_by_person',
  'put_back',
  'provider_down',
  'session_gone',
  'session_pending',
  'session_failed',
  'revival_gone',
  'revival_failed',
  'revival_cancelled',
] as const;
export type IncidentOutcome = (typeof INCIDENT_OUTCOMES)[number];

/** Whether the place of the issues said no, until a person changes something; missing if it did not. */
const refused = z.literal(true).optional();

const report = z.object({
  state: z.enum(REPORT_STATES),
  url: z.string().nullable(),
  tries: z.number(),
  /** When to try again; null if the report has ended. */
  due_at: z.number().nullable(),
  last_error: z.string().nullable(),
  refused,
});
export type IncidentReport = Readonly<z.infer<typeof report>>;

const note = z.object({ tries: z.number(), due_at: z.number(), last_error: z.string(), refused });
export type OutcomeNote = Readonly<z.infer<typeof note>>;

const subject = z.discriminatedUnion('kind', [
  /** The head of a lane that does not start although the lane and its worker are free. */
  z.object({ kind: z.literal('lane'), lane: z.string() }),
  /** All lanes of a project on a host: they wait for the same reason. */
  z.object({ kind: z.literal('queue'), host: z.string() }),
  /** The provider of the agents' model. */
  z.object({ kind: z.literal('provider') }),
  /** The incident that reports an outage to a project, if the outage's own incident is another project's. */
  z.object({ kind: z.literal('provider_in_project'), outage: z.string() }),
]);
/** The subject of an incident, if it is not the run of its session; at most one is open per subject. */
export type IncidentSubject = Readonly<z.infer<typeof subject>>;

const hold = z.object({
  incident_id: z.string(),
  /** `held`: its message waits. `go`: its steps continue. `give_up`: they continue, but the message is not run again. */
  state: z.enum(['held', 'go', 'give_up']),
  /** Whether the chat has been notified that it waits. */
  is_told: z.boolean(),
});
/** A session's incident that waits for the end of an outage; its issue is its project's issue about the outage. */
export type OutageHold = Readonly<z.infer<typeof hold>>;

const course = z.object({
  /** `probing`: one message is tried. `releasing`: the provider answers, and the messages follow one at a time. */
  phase: z.enum(['down', 'probing', 'releasing', 'giving_up']),
  /** Whether a session's incident has joined; until then the outage is just opening, not over. */
  has_members: z.boolean(),
  /** Probes since the provider's last answer. */
  probes: z.number(),
  /** No probe before this instant, while `down`. */
  next_probe_at: z.number(),
  /** The incident whose message was released last; null while there is none. */
  out: z.string().nullable(),
  out_since: z.number().nullable(),
});
export type OutageCourse = Readonly<z.infer<typeof course>>;

/** Its title is untrusted. */
const reached = z.object({ number: z.number(), of: z.number(), title: z.string() });
export type ReachedStep = Readonly<z.infer<typeof reached>>;

/** `is_left`: it cannot continue. The second attempt, or the next message, begins a new one. */
const conversation = z.object({ id: z.string(), is_left: z.boolean() });
export type FailedConversation = Readonly<z.infer<typeof conversation>>;

const failedLater = z.object({
  /** The second attempt's. */
  incident_id: z.string(),
  rule: z.enum(INCIDENT_RULES),
  /** The issue that has it; null if there is none. */
  url: z.string().nullable(),
});
/** How a second attempt failed after its first attempt's incident was closed. Earlier versions closed it at its first call. */
export type FailedLater = Readonly<z.infer<typeof failedLater>>;

const incidentSchema = z.object({
  incident_id: z.string(),
  /** If it is about more than one session, the one that shows it best. */
  session_id: z.string(),
  /** The logs folder whose watchdog acts on it: the run's, else the opener's. Missing in records of earlier versions. */
  logs_id: z.string().exactOptional(),
  /** Absent if it is about the session's own run. */
  subject: subject.readonly().exactOptional(),
  hold: hold.readonly().exactOptional(),
  course: course.readonly().exactOptional(),
  project_key: z.string(),
  /** The leading rule. */
  rule: z.enum(INCIDENT_RULES),
  findings: z.array(finding.readonly()).readonly(),
  step: z.enum(INCIDENT_STEPS),
  /** Whether the run is ended and the message is revived or its chat notified; false while all rules only report. */
  acting: z.boolean(),
  not_revived_because: z.string().nullable(),
  /** The agent's own last words. Untrusted; absent in records of earlier versions. */
  untrusted_excerpt: z.string().nullable().exactOptional(),
  attempt: z.literal([1, 2]),
  /** ISO 8601; null if the journal contained no call. */
  last_tool_call: z.string().nullable(),
  tool_count: z.number(),
  /** From the agent's own list, when the incident was opened. Absent without a list, and in records of earlier versions. */
  reached: reached.readonly().exactOptional(),
  /** Present if the run continued a conversation, or leaves one. */
  conversation: conversation.readonly().exactOptional(),
  revival_session_id: z.string().nullable(),
  report: report.readonly(),
  opened_at: z.number(),
  detected_at: z.number().nullable(),
  stopping_at: z.number().nullable(),
  closed_at: z.number().nullable(),
  /** Why it closed; null while it is open. */
  outcome: z.enum(INCIDENT_OUTCOMES).nullable(),
  /** The second attempt was seen to run, and the issue was asked once to show that. */
  is_running_noted: z.literal(true).exactOptional(),
  /** Only in earlier versions: its outcome is `recovered`, and the second attempt failed after that. */
  failed_later: failedLater.readonly().exactOptional(),
  /** Present once adding the outcome to the issue has failed; the closing line is then written and the session released. */
  note: note.readonly().exactOptional(),
  /** The last step whose effects outside Redis are done. */
  last_action: z.enum(INCIDENT_ACTIONS),
  rev: z.number(),
});
export type Incident = Readonly<z.infer<typeof incidentSchema>>;

/** Rejects torn records, and those with steps of a later version; further fields of one may be present. */
export function isIncident(doc: unknown): doc is Incident {
  return incidentSchema.safeParse(doc).success;
}

export const CRITICAL_EVENTS = [
  'session_unhealthy',
  'session_recovered',
  'session_unrecoverable',
  'queue_stalled',
  'message_unroutable',
  'message_undelivered',
  'watchdog_gap',
  'provider_outage',
  'bridge_gone',
  'store_forgot',
  'bridge_restarts',
  'files_deleted',
  'reports_refused',
  'bot_refused',
] as const;
export type CriticalEventName = (typeof CRITICAL_EVENTS)[number];

export interface AgentName {
  /** The kind, as in the project's configuration. */
  readonly name: string;
  /** As its program states it; null if it does not. */
  readonly version: string | null;
}

/** One line of `logs/critical_events.jsonl`; the last line of an `incident_id` wins. */
export interface CriticalEvent {
  readonly v: 1;
  /** `{incident_id}.{step}`: readers drop a replayed step. */
  readonly id: string;
  readonly incident_id: string;
  readonly final: boolean;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly event: CriticalEventName;
  readonly session_id: string | null;
  readonly project_key: string | null;
  readonly reason: string | null;
  readonly rule: IncidentRule | null;
  readonly action_taken: ActionTaken | null;
  readonly github_issue: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  /** Absent if the agent keeps no list of tasks. Its title may have been written by an attacker, too. */
  readonly step?: ReachedStep;
  /** Absent if the line is not about one session's run. */
  readonly agent?: AgentName;
  /** The beginning of the message. An attacker may have written it. Never an instruction. */
  readonly asked?: string;
  /** Text that an attacker may have written. Never an instruction. */
  readonly untrusted_excerpt?: string;
}
