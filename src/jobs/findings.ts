/** What a session is judged by, and what is found: rules, their thresholds, findings, and the gaps in which nobody could see. */
import type { WaitKind } from '../journal/schema.js';
import type { ProcessIdentity } from './model.js';

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
  /** How long a call excuses silence for which a person seems to be asked, although no line says so. */
  readonly inferred_wait_ms: number;
}

export const DEFAULT_THRESHOLDS: Thresholds = {
  silence_ms: 600_000,
  error_batches: 5,
  runaway_ms: 7_200_000,
  loop_repeats: 5,
  cycle_repeats: 3,
  cycle_max_period: 5,
  tool_wait_ms: 900_000,
  inferred_wait_ms: 14_400_000,
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
