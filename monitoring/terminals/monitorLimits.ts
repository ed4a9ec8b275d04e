/** How long a monitor waits before it calls a session silent. */
import { DEFAULT_THRESHOLDS, type Thresholds } from '../../src/config/rules.js';
import { MINUTE } from '../../src/time.js';

export interface MonitorLimits {
  /** Between two checks. */
  readonly intervalMs: number;
  /** Without activity, until it is noticed. */
  readonly checks: number;
}

/** If the caller names none. */
export const USUAL_LIMITS: MonitorLimits = { intervalMs: MINUTE, checks: 3 };

export function thresholdsOf({ intervalMs, checks }: MonitorLimits): Thresholds {
  return { ...DEFAULT_THRESHOLDS, silence_ms: intervalMs * checks };
}
