/**
 * The vocabulary, before anything that uses it.
 *
 * - **project**: a key, a working directory, the chats that feed it, a GitHub repository for its issues, an agent.
 * - **message**: one request, identified by (project, chat, message id); the id alone is not unique.
 * - **session**: the work for one message, an {@link AgentSession} record in Redis.
 * - **lane**: a working directory (host + real path); first in, first out, one run at a time.
 * - **run**: one agent process tree that executes a session.
 * - **conversation**: the agent provider's own thread. `conversation_key` is our name for it, `conversation_id` the provider's.
 * - **journal**: `logs/sessions/{session_id}/tool_use.jsonl`, written from the agent's own event stream.
 * - **timeline**: the fold of a journal: clocks, open waits, batches, repeats.
 * - **wait**: a reason why silence is expected; it has an owner and an expiry.
 * - **finding**: one detector's verdict on one session, with its evidence.
 * - **incident**: the durable record of one unhealthy session being handled, step by step.
 * - **revival**: the one permitted re-enqueue of a message.
 *
 * Records that leave the process (Redis, JSON lines, `--json`) are written in snake_case; all times are UTC epoch
 * milliseconds unless a name says otherwise.
 */

import type { WaitKind } from './journal/schema.js';

/** `pending → active → completed | failed | cancelled`; `active → pending` only for an orderly interruption. */
export const SESSION_STATUSES = ['pending', 'active', 'completed', 'failed', 'cancelled'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** One process as the kernel knows it. A pid alone is reused; with its start time it is unique within a boot. */
export interface ProcessIdentity {
  /** `WATCHKEEPER_HOST`, else the host's name. */
  readonly host: string;
  /** `/proc/sys/kernel/random/boot_id`; empty where the system has none. */
  readonly boot_id: string;
  /** Inode of `/proc/self/ns/pid`; empty where the system has none. */
  readonly pid_namespace: string;
  readonly pid: number;
  /** Field 22 of `/proc/{pid}/stat`, in clock ticks since boot; empty where the system has none. */
  readonly pid_start: string;
}

/** Who runs the session, and what is known of its end. */
export interface Run {
  readonly run_id: string;
  /** The bridge process that owns the run. */
  readonly owner: ProcessIdentity;
  /** The agent's process; null until it was started. */
  readonly pid: number | null;
  /** When that process started, as in {@link ProcessIdentity}; missing in records of former versions. */
  readonly pid_start?: string;
  readonly started_at: number;
  /** The logs folder that holds its journal; missing in records of former versions. */
  readonly logs_id?: string;
  /** The disk refused lines of its journal: it tells too little to be judged by. */
  readonly journal_torn?: true;
}

/** Why it is certain that no process of a run is left. */
export interface DeathProof {
  readonly run_id: string;
  readonly proven_at: number;
  /** `scan`: an empty scan in the run's own pid namespace and boot. `no_process`: its agent has none, and starts none. */
  readonly by: 'scan' | 'no_process' | 'other_boot' | 'other_container' | 'lease_over';
}

/**
 * A lane in which nothing starts, because its last run has ended for everybody but could not be proven dead: two agents in one
 * directory are worse than a message that waits.
 */
export interface BlockedLane {
  readonly lane: string;
  /** The run that the lane's holder key names. */
  readonly run_id: string;
  /** Null where no record tells of it: then only its marks can be looked for. */
  readonly run: Run | null;
  readonly session_id: string | null;
  readonly project_key: string | null;
  readonly since: number;
  /** Whether a critical event tells of it. */
  readonly is_told: boolean;
}

/** Asks the bridge that owns a run to end it. */
export interface StopRequest {
  readonly run_id: string;
  readonly cause: 'incident' | 'cancel';
  readonly incident_id: string | null;
  readonly requested_at: number;
}

export interface Sender {
  readonly id: string;
  readonly name: string;
}

export interface AgentSession {
  readonly session_id: string;
  readonly project_key: string;
  /** Telegram's chat id in decimal, or `terminal`. */
  readonly chat_id: string;
  readonly message_id: string;
  /** Telegram's topic; null in a chat without topics. */
  readonly thread_id: string | null;
  readonly sender: Sender;
  readonly message_text: string;
  readonly status: SessionStatus;
  /** 2 is the revival. */
  readonly attempt: 1 | 2;
  readonly revival_of: string | null;
  readonly revived_by: string | null;
  /** Which conversation the message belongs to; chosen when it is accepted. */
  readonly conversation_key: string;
  /** The provider's thread id, once the agent has told it. */
  readonly conversation_id: string | null;
  readonly lane: string;
  readonly working_directory: string;
  /** The kind of agent, as in the project's configuration. */
  readonly agent: string;
  readonly run: Run | null;
  readonly stop: StopRequest | null;
  readonly released: DeathProof | null;
  /** The one open incident. */
  readonly incident_id: string | null;
  /** Orderly interruptions so far; see {@link MOST_INTERRUPTIONS}. */
  readonly interruptions: number;
  /** A pending one is not run again before this instant, epoch ms: its provider's limit lasts until then. */
  readonly not_before: number | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly last_activity: number | null;
  readonly end_reason: string | null;
  readonly answer: string | null;
  /** The state of the final message; null until there is one. */
  readonly delivery: DeliveryState | null;
  /** The chat's message that is edited while the agent works. */
  readonly progress_message_id: string | null;
  /** Compare-and-set counter: every change adds one. */
  readonly rev: number;
}

/** How often an orderly interruption may put the same session back at its lane's head. */
export const MOST_INTERRUPTIONS = 3;

export const DELIVERY_STATES = ['queued', 'sending', 'sent', 'unknown', 'given_up'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The final message of a session on its way to the chat. One per session. */
export interface OutboxEntry {
  readonly session_id: string;
  readonly kind: 'answer' | 'failure' | 'cancelled';
  readonly chat_id: string;
  readonly thread_id: string | null;
  readonly reply_to: string | null;
  readonly progress_message_id: string | null;
  readonly text: string;
  readonly state: DeliveryState;
  /** How many parts of the text are known to stand in the chat. */
  readonly parts_done: number;
  /** The part whose send had an unknown outcome and now goes into a message by an edit; null while there is none. */
  readonly edit_into: string | null;
  readonly tries: number;
  /** Not before this instant (back-off, `retry_after`). */
  readonly due_at: number;
  /** Until when the claim of a send holds; null while nobody sends. */
  readonly claimed_until: number | null;
  /** The process that claimed last; missing in entries of former versions. */
  readonly claimed_by?: ProcessIdentity;
  readonly last_error: string | null;
  readonly created_at: number;
  readonly rev: number;
}

/** In the order in which a rule leads: the first one true names the incident and its issue. */
export const RULES = ['crash', 'orphan', 'error_cascade', 'silence', 'runaway', 'loop', 'backlog'] as const;
export type Rule = (typeof RULES)[number];

/** What an incident, and its issue, is named by: a rule, or what befell many sessions at once. */
export const INCIDENT_RULES = [...RULES, 'provider_outage'] as const;
export type IncidentRule = (typeof INCIDENT_RULES)[number];

export const RULE_ACTIONS = ['revive', 'report', 'off'] as const;
export type RuleAction = (typeof RULE_ACTIONS)[number];

/** What a rule needs to become true. Limits in milliseconds are strict ("more than"), counts are inclusive. */
export interface Thresholds {
  readonly silence_ms: number;
  /** This many consecutive failing batches may pass. */
  readonly error_batches: number;
  readonly runaway_ms: number;
  readonly loop_repeats: number;
  readonly cycle_repeats: number;
  readonly cycle_max_period: number;
  /** How long a call in flight excuses silence where it declares no timeout. */
  readonly tool_wait_ms: number;
}

export const DEFAULT_THRESHOLDS: Thresholds = {
  silence_ms: 600_000,
  error_batches: 5,
  runaway_ms: 7_200_000,
  loop_repeats: 5,
  cycle_repeats: 3,
  cycle_max_period: 5,
  tool_wait_ms: 900_000,
};

/** A wait that a detector looked at, and what became of it. */
export interface ConsideredWait {
  readonly kind: 'tool' | WaitKind;
  /** Who waits: the tool whose call it is, else the agent. `Bash`, `Bash of sub-agent a1`, `the agent`. */
  readonly owner: string;
  /** The id of the call; null where the agent itself waits. Missing in records of former versions. */
  readonly call?: string | null;
  /** The sub-agent whose wait it is; null: the main agent. Missing in records of former versions. */
  readonly agent?: string | null;
  /** Instants as ISO 8601; `until` null never expires. */
  readonly since: string;
  readonly until: string | null;
  readonly excuses: boolean;
  /** One clause: `its 15 min were over at 10:02:00 UTC`. */
  readonly why: string;
}

/** What a rule's own measure showed when it was found true: a clock, or a count. */
export interface ClockReading {
  /** The sub-agent that was measured; null: the main agent. */
  readonly agent: string | null;
  readonly unit: 'ms' | 'failing_batches' | 'calls';
  readonly value: number;
  /** What the rule allows, or, where it names a count, what is enough. */
  readonly limit: number;
  /** From when it counted, ISO 8601; null where nobody knows. */
  readonly counted_from: string | null;
}

export interface Finding<Named extends IncidentRule = Rule> {
  readonly rule: Named;
  /** Stable, without spaces: `silent_for_15_minutes`. */
  readonly reason: string;
  /** When the rule became true, ISO 8601. */
  readonly since: string;
  /** The readings that decided, in words of ours: never those of an agent. */
  readonly evidence: readonly string[];
  readonly waits_considered: readonly ConsideredWait[];
  /** Missing for rules that measure nothing (`crash`), and in records of former versions. */
  readonly clock?: ClockReading;
}

/** `opened` stands before anything outside Redis happened. */
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

export interface IncidentReport {
  readonly state: ReportState;
  readonly url: string | null;
  readonly tries: number;
  /** When to try again; null where the report has ended. */
  readonly due_at: number | null;
  readonly last_error: string | null;
}

/** That an incident has ended is still to be noted on its issue. */
export interface OutcomeNote {
  readonly tries: number;
  readonly due_at: number;
  readonly last_error: string;
}

/** What an incident is about, where it is not the run of its session; at most one is open per subject. */
export type IncidentSubject =
  /** The head of a lane, which is free and whose worker is, too. */
  | { readonly kind: 'lane'; readonly lane: string }
  /** All lanes of a project on a host: one cause keeps them waiting. */
  | { readonly kind: 'queue'; readonly host: string }
  /** The provider of the agents' model. */
  | { readonly kind: 'provider' };

/** That a session's incident waits for the end of an outage; it has no issue of its own. */
export interface OutageHold {
  /** The incident of the outage. */
  readonly incident_id: string;
  /** `held`: its message waits; `go`: its steps go on; `give_up`: they go on, but the message is not run again. */
  readonly state: 'held' | 'go' | 'give_up';
  /** Whether the chat knows that it waits. */
  readonly is_told: boolean;
}

/** How far the handling of an outage got. */
export interface OutageCourse {
  /**
   * `down`: no message is tried; `probing`: one is, and nothing was heard of it yet; `releasing`: the provider answers, and the
   * messages follow one at a time; `giving_up`: it was asked often enough.
   */
  readonly phase: 'down' | 'probing' | 'releasing' | 'giving_up';
  /** Whether a session's incident has joined; until then it is opening, not over. */
  readonly has_members: boolean;
  /** Probes since the provider answered last. */
  readonly probes: number;
  /** Not before this instant, while `down`. */
  readonly next_probe_at: number;
  /** The incident whose message was let go last; null while there is none. */
  readonly out: string | null;
  readonly out_since: number | null;
}

export interface Incident {
  readonly incident_id: string;
  /** Where it is about more than one session, the one that shows it best. */
  readonly session_id: string;
  /** The logs folder whose watchdog acts on it: the run's, else the opener's. Missing in records of former versions. */
  readonly logs_id?: string;
  /** Missing where it is about the session's own run. */
  readonly subject?: IncidentSubject;
  /** Present where the session is one of those that an outage befell. */
  readonly hold?: OutageHold;
  /** Present where the incident is the outage itself. */
  readonly course?: OutageCourse;
  readonly project_key: string;
  /** The leading rule. */
  readonly rule: IncidentRule;
  readonly findings: readonly Finding<IncidentRule>[];
  readonly step: IncidentStep;
  /** Whether the run is ended and the message revived or told; false while all rules only report. */
  readonly acting: boolean;
  /** Why the message must not be revived; null where it may. */
  readonly not_revived_because: string | null;
  /** What the agent itself said at its end. Untrusted; absent in records of earlier versions. */
  readonly untrusted_excerpt?: string | null;
  readonly attempt: 1 | 2;
  /** ISO 8601; null where the journal held no call. */
  readonly last_tool_call: string | null;
  readonly tool_count: number;
  readonly revival_session_id: string | null;
  readonly report: IncidentReport;
  readonly opened_at: number;
  readonly detected_at: number | null;
  readonly stopping_at: number | null;
  readonly closed_at: number | null;
  /** Why it closed: `recovered`, `answered`, `told`, … */
  readonly outcome: string | null;
  /** Present once noting the outcome on the issue has failed; the closing line is written then, and the session free. */
  readonly note?: OutcomeNote;
  /** The last step whose effects outside Redis are done. */
  readonly last_action: ActionTaken;
  readonly rev: number;
}

/**
 * Why a watchdog was not there: `host_slept`; `process_stood`: it was stopped, starved, or waited in one place;
 * `loop_blocked`: it computed all the time; `clock_jumped`: nothing stood, but the wall clock was set. Where the system does
 * not count the time since its boot, a sleep looks like the last.
 */
export const GAP_CAUSES = ['host_slept', 'process_stood', 'loop_blocked', 'clock_jumped'] as const;
export type GapCause = (typeof GAP_CAUSES)[number];

/** A time in which a living watchdog could see nothing: nobody is accused for it. */
export interface WatchdogGap {
  readonly gap_id: string;
  readonly from: number;
  /** Every clock that it concerns starts again here. */
  readonly until: number;
  readonly cause: GapCause;
  /** The watchdog's process. */
  readonly by: ProcessIdentity;
  /** Whether it was the acting watchdog when the gap began. */
  readonly acted: boolean;
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
] as const;
export type CriticalEventName = (typeof CRITICAL_EVENTS)[number];

/** One line of `logs/critical_events.jsonl`; the last line of an `incident_id` wins. */
export interface CriticalEvent {
  readonly v: 1;
  /** `{incident_id}.{step}`: a replayed step is dropped by readers. */
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
