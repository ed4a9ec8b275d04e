/** What a session is judged by, and what is found: rules, their thresholds, findings, and the gaps in which nobody could see. */
import type { IncidentRule, Rule } from '../config/rules.js';
import type { ProcessIdentity } from '../host/identity.js';
import type { WaitKind } from '../journal/schema.js';

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
