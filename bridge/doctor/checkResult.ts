/** What the doctor says of one thing. */

export type Verdict = 'ok' | 'warning' | 'fault' | 'skipped';

export interface CheckResult {
  /** Short and stable: `redis eviction`. */
  readonly name: string;
  readonly verdict: Verdict;
  /** A sentence: what was seen. Never holds a secret. */
  readonly found: string;
  /** A sentence: what to do. Every complaint has one. */
  readonly remedy: string | null;
}

export function ok(name: string, found: string): CheckResult {
  return { name, verdict: 'ok', found, remedy: null };
}

/** Not looked at: nothing is there to be looked at, or something else has to be well first. */
export function skipped(name: string, found: string): CheckResult {
  return { name, verdict: 'skipped', found, remedy: null };
}

/** It works, but not as it might, or not for long. */
export function warning(name: string, found: string, remedy: string): CheckResult {
  return { name, verdict: 'warning', found, remedy };
}

/** It does not work, or loses what it must keep. */
export function fault(name: string, found: string, remedy: string): CheckResult {
  return { name, verdict: 'fault', found, remedy };
}
