import type { Clock } from '../../src/time.js';

/** A crash after any of these must be harmless. */
export const ARCHIVING_STEPS = ['copied', 'archived', 'prepared', 'announced', 'completed', 'replaced'] as const;
export type ArchivingStep = (typeof ARCHIVING_STEPS)[number];

export interface ArchivingOptions {
  readonly clock: Clock;
  /** Only events that are older than this instant, epoch milliseconds, and acknowledged by every consumer are moved. */
  readonly before: number;
  /** Whether age alone decides if there is no consumer; otherwise nothing is moved then. */
  readonly needsNoConsumer?: boolean;
  /** Called and awaited after each step. */
  readonly onStep?: (step: ArchivingStep) => unknown;
}
