/** `orphan`: a session is active, no answer is stored, and no process is left to run it. */
import type { Finding } from '../../../src/jobs/findings.js';
import { describeDuration, isoTime } from '../../../src/time.js';
import { reasonWord } from './reasons.js';

export interface OrphanFacts {
  /** For the bridge that owns the run: false is proven dead, null is unknown from here. */
  readonly isOwnerAlive: boolean | null;
  readonly owner: string;
  /** Epoch milliseconds at which the run's lease ended; null if it is not known to have ended. */
  readonly leaseUntil: number | null;
  readonly leaseMs: number;
  /** When the process that could renew it was back after the last gap, epoch milliseconds; minus infinity without one. */
  readonly clocksStart: number;
}

/** A lease counts as expired a whole lease after its end: its owner may be ending the run. After a gap it gets one more. */
export function findOrphan(facts: OrphanFacts, now: number): Finding | null {
  const since = (instant: number, evidence: string): Finding => ({
    rule: 'orphan',
    reason: reasonWord({ kind: 'plain', reason: 'run_lost' }),
    since: isoTime(instant),
    evidence: [evidence],
    waits_considered: [],
  });
  if (facts.isOwnerAlive === false) return since(now, `the service that ran the agent (${facts.owner}) is gone`);
  if (facts.leaseUntil === null) return null;
  const overAt = leaseEnd(facts.leaseUntil, facts.leaseMs, facts.clocksStart);
  const deadAt = overAt + facts.leaseMs;
  if (now <= deadAt) return null;
  const age = describeDuration(now - overAt);
  return since(deadAt, `the service that ran the agent (${facts.owner}) has sent no sign of life for ${age}`);
}

/** A process that knows of a gap until `clocksStart` gives each lease its whole length after that; epoch milliseconds. */
export function leaseEnd(leaseUntil: number, leaseMs: number, clocksStart: number): number {
  return Math.max(leaseUntil, clocksStart + leaseMs);
}
