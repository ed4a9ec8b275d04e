/** The rules by which a session is judged, and their thresholds. */

/** In order of precedence: the first rule that is true names the incident and its issue. */
export const RULES = ['crash', 'orphan', 'error_cascade', 'silence', 'runaway', 'loop', 'backlog'] as const;
export type Rule = (typeof RULES)[number];

/** What an incident and its issue are named after: a rule, or a fault of many sessions at once. */
export const INCIDENT_RULES = [...RULES, 'provider_outage'] as const;
export type IncidentRule = (typeof INCIDENT_RULES)[number];

export const RULE_ACTIONS = ['revive', 'report', 'off'] as const;
export type RuleAction = (typeof RULE_ACTIONS)[number];

/** A rule's thresholds. Limits in milliseconds are strict ("more than"); counts are inclusive unless they say otherwise. */
export interface Thresholds {
  readonly silence_ms: number;
  /** More consecutive failing batches than this are an error cascade. */
  readonly error_batches: number;
  readonly runaway_ms: number;
  readonly loop_repeats: number;
  readonly cycle_repeats: number;
  readonly cycle_max_period: number;
  /** How long a call in flight excuses silence if it declares no timeout. */
  readonly tool_wait_ms: number;
  /** How long a call excuses silence if it seems to ask a person, although no line says so. */
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
