import type { Clock } from '../../src/time.js';

/** After each of these a crash must be harmless. */
export const ARCHIVING_STEPS = ['copied', 'archived', 'prepared', 'announced', 'completed', 'replaced'] as const;
export type ArchivingStep = (typeof ARCHIVING_STEPS)[number];

export interface ArchivingOptions {
  readonly clock: Clock;
  /** Only what is older than this instant, epoch milliseconds, and acknowledged by every consumer, is moved. */
  readonly before: number;
  /** Whether age alone decides where there is no consumer; else nothing is moved then. */
  readonly needsNoConsumer?: boolean;
  /** Called, and waited for, after each step. */
  readonly onStep?: (step: ArchivingStep) => unknown;
}
