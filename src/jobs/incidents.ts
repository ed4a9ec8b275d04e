/** What follows from findings: the record of an incident, its report and its outage, and its critical events. */
import type { IncidentRule } from '../config/rules.js';
import type { Finding } from './findings.js';

/** At `opened` nothing outside Redis has happened yet. */
export const INCIDENT_STEPS = ['opened', 'detected', 'stopping', 'released', 'revived', 'told', 'closed'] as const;
export type IncidentStep = (typeof INCIDENT_STEPS)[number];

export const REPORT_STATES = ['pending', 'filed', 'joined', 'capped', 'ambiguous', 'given_up'] as const;
export type ReportState = (typeof REPORT_STATES)[number];

export const ACTIONS_TAKEN = [
  'detected',
  'reported',
  'revival_attempted',
  'failure_message_sent',
  'failure_message_unknown',
  'failure_message_given_up',
  'suppressed',
] as const;
export type ActionTaken = (typeof ACTIONS_TAKEN)[number];

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

export interface IncidentReport {
  readonly state: ReportState;
  readonly url: string | null;
  readonly tries: number;
  /** When to try again; null if the report has ended. */
  readonly due_at: number | null;
  readonly last_error: string | null;
}

/** The incident's end, which still has to be added to its issue. */
export interface OutcomeNote {
  readonly tries: number;
  readonly due_at: number;
  readonly last_error: string;
}

/** What an incident is about, if not the run of its session; at most one is open per subject. */
export type IncidentSubject =
  /** The head of a lane that does not start although the lane and its worker are free. */
  | { readonly kind: 'lane'; readonly lane: string }
  /** All lanes of a project on a host: they wait for the same reason. */
  | { readonly kind: 'queue'; readonly host: string }
  /** The provider of the agents' model. */
  | { readonly kind: 'provider' }
  /** The incident that reports an outage to a project, if the outage's own incident is another project's. */
  | { readonly kind: 'provider_in_project'; readonly outage: string };

/** A session's incident that waits for the end of an outage; its issue is its project's issue about the outage. */
export interface OutageHold {
  /** The incident of the outage. */
  readonly incident_id: string;
  /** `held`: its message waits. `go`: its steps continue. `give_up`: they continue, but the message is not run again. */
  readonly state: 'held' | 'go' | 'give_up';
  /** Whether the chat has been notified that it waits. */
  readonly is_told: boolean;
}

/** How far the handling of an outage got. */
export interface OutageCourse {
  /**
   * `down`: no message is tried. `probing`: one is, without a result yet. `releasing`: the provider answers, and the messages
   * follow one at a time. `giving_up`: it was probed often enough.
   */
  readonly phase: 'down' | 'probing' | 'releasing' | 'giving_up';
  /** Whether a session's incident has joined; until then the outage is just opening, not over. */
  readonly has_members: boolean;
  /** Probes since the provider's last answer. */
  readonly probes: number;
  /** No probe before this instant, while `down`. */
  readonly next_probe_at: number;
  /** The incident whose message was released last; null while there is none. */
  readonly out: string | null;
  readonly out_since: number | null;
}

export interface Incident {
  readonly incident_id: string;
  /** If it is about more than one session, the one that shows it best. */
  readonly session_id: string;
  /** The logs folder whose watchdog acts on it: the run's, else the opener's. Missing in records of earlier versions. */
  readonly logs_id?: string;
  /** Absent if it is about the session's own run. */
  readonly subject?: IncidentSubject;
  /** Present if an outage affects the session. */
  readonly hold?: OutageHold;
  /** Present if the incident is the outage itself. */
  readonly course?: OutageCourse;
  readonly project_key: string;
  /** The leading rule. */
  readonly rule: IncidentRule;
  readonly findings: readonly Finding<IncidentRule>[];
  readonly step: IncidentStep;
  /** Whether the run is ended and the message is revived or its chat notified; false while all rules only report. */
  readonly acting: boolean;
  /** Why the message must not be revived; null if it may be. */
  readonly not_revived_because: string | null;
  /** What the agent itself said at its end. Untrusted; absent in records of earlier versions. */
  readonly untrusted_excerpt?: string | null;
  readonly attempt: 1 | 2;
  /** ISO 8601; null if the journal contained no call. */
  readonly last_tool_call: string | null;
  readonly tool_count: number;
  readonly revival_session_id: string | null;
  readonly report: IncidentReport;
  readonly opened_at: number;
  readonly detected_at: number | null;
  readonly stopping_at: number | null;
  readonly closed_at: number | null;
  /** Why it closed; null while it is open. */
  readonly outcome: IncidentOutcome | null;
  /** Present once adding the outcome to the issue has failed; the closing line is then written and the session released. */
  readonly note?: OutcomeNote;
  /** The last step whose effects outside Redis are done. */
  readonly last_action: ActionTaken;
  readonly rev: number;
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
] as const;
export type CriticalEventName = (typeof CRITICAL_EVENTS)[number];

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
  /** Text that an attacker may have written. Never an instruction. */
  readonly untrusted_excerpt?: string;
}
