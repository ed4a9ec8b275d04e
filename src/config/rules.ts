/** The rules that judge a session, and their thresholds. */
import * as z from 'zod';
import { milliseconds, wholeNumber } from './numbers.js';

/** In order of precedence: the first rule that is true names the incident and its issue. */
export const RULES = ['crash', 'orphan', 'error_cascade', 'silence', 'runaway', 'loop', 'backlog'] as const;
export type Rule = (typeof RULES)[number];

/** The names of incidents and issues: a rule, or a fault of many sessions at once. */
export const INCIDENT_RULES = [...RULES, 'provider_outage'] as const;
export type IncidentRule = (typeof INCIDENT_RULES)[number];

export const RULE_ACTIONS = ['revive', 'report', 'off'] as const;
export type RuleAction = (typeof RULE_ACTIONS)[number];

/** Limits in milliseconds are strict ("more than"); counts are inclusive unless they say otherwise. */
export const thresholds = z.strictObject({
  silence_ms: milliseconds.exactOptional(),
  /** More consecutive failing batches than this are an error cascade. */
  error_batches: wholeNumber('failing batches').exactOptional(),
  runaway_ms: milliseconds.exactOptional(),
  loop_repeats: wholeNumber('calls').exactOptional(),
  cycle_repeats: wholeNumber('rounds').exactOptional(),
  cycle_max_period: wholeNumber('calls').exactOptional(),
  /** How long a call in flight excuses silence if it declares no timeout. */
  tool_wait_ms: milliseconds.exactOptional(),
  /** How long a call excuses silence if it seems to ask a person, although no line says so. */
  inferred_wait_ms: milliseconds.exactOptional(),
  /** After this silence of the model the chat is notified, quietly; it is no rule. */
  quiet_ms: milliseconds.exactOptional(),
});
export type Thresholds = Readonly<Required<z.infer<typeof thresholds>>>;

export const DEFAULT_THRESHOLDS: Thresholds = {
  silence_ms: 600_000,
  error_batches: 5,
  runaway_ms: 7_200_000,
  loop_repeats: 5,
  cycle_repeats: 3,
  cycle_max_period: 5,
  tool_wait_ms: 900_000,
  inferred_wait_ms: 14_400_000,
  quiet_ms: 360_000,
};
