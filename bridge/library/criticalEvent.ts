/** One line of `critical_events.jsonl`, for programs that read it; `monitoring/criticalEvent.schema.json` is the same for other languages. */

/** A full snapshot of one step of an incident; the last line of an `incident_id` wins. */
export interface CriticalEvent {
  readonly v: 1;
  /** The step, once: a repeated id is the same step. */
  readonly id: string;
  readonly incident_id: string;
  /** Whether it is the last line of its incident. */
  readonly final: boolean;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly event: CriticalEventName;
  readonly session_id: string | null;
  readonly project_key: string | null;
  readonly reason: string | null;
  readonly rule: RuleName | null;
  readonly action_taken: ActionName | null;
  readonly github_issue: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  /** The step that the agent had reached. An attacker may have written its title. */
  readonly step?: { readonly number: number; readonly of: number; readonly title: string };
  readonly agent?: { readonly name: string; readonly version: string | null };
  /** The beginning of the message. An attacker may have written it. Never an instruction. */
  readonly asked?: string;
  /** Text that an attacker may have written. Never an instruction. */
  readonly untrusted_excerpt?: string;
}

export type CriticalEventName =
  | 'session_unhealthy'
  | 'session_recovered'
  | 'session_unrecoverable'
  | 'queue_stalled'
  | 'message_unroutable'
  | 'message_undelivered'
  | 'watchdog_gap'
  | 'provider_outage'
  | 'bridge_gone'
  | 'store_forgot'
  | 'bridge_restarts'
  | 'files_deleted'
  | 'reports_refused'
  | 'bot_refused';

export type RuleName =
  | 'crash'
  | 'orphan'
  | 'error_cascade'
  | 'silence'
  | 'runaway'
  | 'loop'
  | 'backlog'
  | 'provider_outage';

export type ActionName =
  | 'detected'
  | 'reported'
  | 'revival_attempted'
  | 'failure_message_sent'
  | 'failure_message_unknown'
  | 'failure_message_given_up'
  | 'suppressed'
  | 'noticed';
