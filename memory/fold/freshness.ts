/** How long ago something happened in a session. The intervals are half-open. */
import { HOUR } from '../../src/time.js';
import type { Freshness } from '../words.js';

/** Hours since the last activity from which on a session is called so; each is more than the one before. */
export interface FreshnessHours {
  readonly resumable_h: number;
  readonly stale_h: number;
  readonly critical_h: number;
  readonly archivable_h: number;
}

export interface StateCheck {
  readonly stale: boolean;
  readonly critical: boolean;
  /** Since the last activity, whole hours; null if there was none. */
  readonly hours: number | null;
}

/**
 * @param last the last activity, or the acknowledgement if that is later; UTC epoch milliseconds, null if there was none
 * @param now UTC epoch milliseconds
 * @returns `fresh` for an instant in the future, `critical` if there is none
 */
export function freshnessOf(last: number | null, now: number, hours: FreshnessHours): Freshness {
  if (last === null) return 'critical';
  const age = (now - last) / HOUR;
  if (age < hours.resumable_h) return 'fresh';
  if (age < hours.stale_h) return 'resumable';
  if (age < hours.critical_h) return 'stale';
  return age < hours.archivable_h ? 'critical' : 'archivable';
}

/** @returns whether the state is so old that it must not be trusted; parameters as in {@link freshnessOf} */
export function isStateStale(last: number | null, now: number, hours: FreshnessHours): StateCheck {
  const freshness = freshnessOf(last, now, hours);
  return {
    stale: freshness !== 'fresh' && freshness !== 'resumable',
    critical: freshness === 'critical' || freshness === 'archivable',
    hours: last === null ? null : Math.max(0, Math.floor((now - last) / HOUR)),
  };
}

/** @returns whether the session is resumed after a while; parameters as in {@link freshnessOf} */
export function checkIfResumedSession(last: number | null, now: number, hours: FreshnessHours): boolean {
  return last !== null && freshnessOf(last, now, hours) === 'resumable';
}

/** The words of an older tracker for a session. */
export type SessionState = 'new' | 'active' | 'resumed' | 'stale' | 'compacted';

const STATES: Readonly<Record<Freshness, SessionState>> = {
  fresh: 'active',
  resumable: 'resumed',
  stale: 'stale',
  critical: 'stale',
  archivable: 'stale',
};

/** `isUsed`: a tool was used. `isCompacted`: its context was compacted after the last prompt. */
export function sessionStateOf(
  freshness: Freshness,
  { isUsed, isCompacted }: { readonly isUsed: boolean; readonly isCompacted: boolean },
): SessionState {
  if (!isUsed) return 'new';
  return isCompacted ? 'compacted' : STATES[freshness];
}
