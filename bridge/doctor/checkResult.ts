/** The doctor's result for one check. */

export type Verdict = 'ok' | 'warning' | 'fault' | 'skipped';

export interface CheckResult {
  /** Short and stable: `redis eviction`. */
  readonly name: string;
  readonly verdict: Verdict;
  /** A sentence: what was seen. Never contains a secret. */
  readonly found: string;
  /** A sentence: what to do. Every complaint has one. */
  readonly remedy: string | null;
}

export function ok(name: string, found: string): CheckResult {
  return { name, verdict: 'ok', found, remedy: null };
}

/** Not checked: there is nothing to check, or something else has to work first. */
export function skipped(name: string, found: string): CheckResult {
  return { name, verdict: 'skipped', found, remedy: null };
}

/** It works, but not as well as it could, or not for long. */
export function warning(name: string, found: string, remedy: string): CheckResult {
  return { name, verdict: 'warning', found, remedy };
}

/** It does not work, or loses what it must keep. */
export function fault(name: string, found: string, remedy: string): CheckResult {
  return { name, verdict: 'fault', found, remedy };
}
