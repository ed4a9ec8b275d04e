/**
 * The vocabulary of judging a session: rules, their thresholds, findings, and the gaps when the watchdog could see nothing.
 */
import * as z from 'zod';
import { INCIDENT_RULES, type IncidentRule, type Rule } from '../config/rules.js';
import type { ProcessIdentity } from '../host/identity.js';
import { WAIT_KINDS } from '../journal/schema.js';

const consideredWait = z.object({
  kind: z.enum(['tool', ...WAIT_KINDS]),
  /** The waiting part: the tool of the call, or the agent. `Bash`, `Bash of sub-agent a1`, `the agent`. */
  owner: z.string(),
  /** The id of the call; null if the agent itself waits. Missing in records of earlier versions. */
  call: z.string().nullable().exactOptional(),
  /** The sub-agent that waits; null for the main agent. Missing in records of earlier versions. */
  agent: z.string().nullable().exactOptional(),
  /** Instants as ISO 8601; a null `until` never expires. */
  since: z.string(),
  until: z.string().nullable(),
  excuses: z.boolean(),
  /** One clause: `its limit of 15 min ended at 10:02:00 UTC`. */
  why: z.string(),
});
export type ConsideredWait = Readonly<z.infer<typeof consideredWait>>;

const clockReading = z.object({
  agent: z.string().nullable(),
  unit: z.enum(['ms', 'failing_batches', 'calls']),
  value: z.number(),
  /** The rule's limit; if it measures a count, the number that is enough. */
  limit: z.number(),
  /** Start of the measurement, ISO 8601; null if unknown. */
  counted_from: z.string().nullable(),
});

/** As it is stored; {@link Finding} is its type. */
export const finding = z.object({
  rule: z.enum(INCIDENT_RULES),
  /** Stable, without spaces: `silent_for_15_minutes`. */
  reason: z.string(),
  /** When the rule became true, ISO 8601. */
  since: z.string(),
  /** The deciding measurements, in our own words, never an agent's. */
  evidence: z.array(z.string()).readonly(),
  waits_considered: z.array(consideredWait.readonly()).readonly(),
  /** Missing for rules that measure nothing (`crash`), and in records of earlier versions. */
  clock: clockReading.readonly().exactOptional(),
});
export type Finding<Named extends IncidentRule = Rule> = Readonly<z.infer<typeof finding>> & { readonly rule: Named };

/**
 * Why a watchdog was away. `host_slept`. `process_stood`: it was suspended, starved, or blocked in one call. `loop_blocked`: it
 * computed all the time. `clock_jumped`: nothing was suspended, but the wall clock was set. On systems that do not count the
 * time since boot, a sleep looks like `clock_jumped`.
 */
export type GapCause = 'host_slept' | 'process_stood' | 'loop_blocked' | 'clock_jumped';

/** A time when a living watchdog could see nothing: no session is judged for it. */
export interface WatchdogGap {
  readonly gap_id: string;
  readonly from: number;
  /** Every affected measurement starts again here. */
  readonly until: number;
  readonly cause: GapCause;
  readonly by: ProcessIdentity;
  /** Whether it was the acting watchdog when the gap began. */
  readonly acted: boolean;
}
