/**
 * What a session is judged by, and what is found: rules, their thresholds, findings, and the gaps in which the watchdog could
 * see nothing.
 */
import type { IncidentRule, Rule } from '../config/rules.js';
import type { ProcessIdentity } from '../host/identity.js';
import type { WaitKind } from '../journal/schema.js';

/** A wait that a detector considered, and the result. */
export interface ConsideredWait {
  readonly kind: 'tool' | WaitKind;
  /** What waits: the tool of the call, or the agent. `Bash`, `Bash of sub-agent a1`, `the agent`. */
  readonly owner: string;
  /** The id of the call; null if the agent itself waits. Missing in records of earlier versions. */
  readonly call?: string | null;
  /** The sub-agent that waits; null: the main agent. Missing in records of earlier versions. */
  readonly agent?: string | null;
  /** Instants as ISO 8601; a null `until` never expires. */
  readonly since: string;
  readonly until: string | null;
  readonly excuses: boolean;
  /** One clause: `its 15 min were over at 10:02:00 UTC`. */
  readonly why: string;
}

/** What a rule measured when it became true: a time, or a count. */
export interface ClockReading {
  /** The sub-agent that was measured; null: the main agent. */
  readonly agent: string | null;
  readonly unit: 'ms' | 'failing_batches' | 'calls';
  readonly value: number;
  /** The rule's limit; if it measures a count, the number that is enough. */
  readonly limit: number;
  /** Start of the measurement, ISO 8601; null if unknown. */
  readonly counted_from: string | null;
}

export interface Finding<Named extends IncidentRule = Rule> {
  readonly rule: Named;
  /** Stable, without spaces: `silent_for_15_minutes`. */
  readonly reason: string;
  /** When the rule became true, ISO 8601. */
  readonly since: string;
  /** The deciding measurements, in our own words, never an agent's. */
  readonly evidence: readonly string[];
  readonly waits_considered: readonly ConsideredWait[];
  /** Missing for rules that measure nothing (`crash`), and in records of earlier versions. */
  readonly clock?: ClockReading;
}

/**
 * Why a watchdog was away. `host_slept`. `process_stood`: it was suspended, starved, or blocked in one call. `loop_blocked`: it
 * computed all the time. `clock_jumped`: nothing was suspended, but the wall clock was set. On systems that do not count the
 * time since boot, a sleep looks like `clock_jumped`.
 */
export const GAP_CAUSES = ['host_slept', 'process_stood', 'loop_blocked', 'clock_jumped'] as const;
export type GapCause = (typeof GAP_CAUSES)[number];

/** A time in which a living watchdog could see nothing: no session is judged for it. */
export interface WatchdogGap {
  readonly gap_id: string;
  readonly from: number;
  /** Every affected measurement starts again here. */
  readonly until: number;
  readonly cause: GapCause;
  /** The watchdog's process. */
  readonly by: ProcessIdentity;
  /** Whether it was the acting watchdog when the gap began. */
  readonly acted: boolean;
}
