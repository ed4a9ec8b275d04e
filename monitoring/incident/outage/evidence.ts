/**
 * When many unhealthy sessions are one fault: more than a quarter of the active ones, and at least four, within a minute.
 *
 * A provider outage shows as silence, as calls that fail, or as an agent that gives up by itself. A host's own harm to its
 * agents is no sign of one: a lost bridge (`orphan`), a signal, a program that cannot start, an interruption; nor is anything
 * that takes hours to become true. So the end of a bridge with five runs is five orphans, and no outage.
 */
import type { IncidentRule } from '../../../src/config/rules.js';
import type { Finding } from '../../../src/jobs/findings.js';
import type { Incident } from '../../../src/jobs/incidents.js';
import { MINUTE } from '../../../src/time.js';
import { type PlainReason, readReason } from '../../verdict/detectors/reasons.js';

export const TOGETHER_MS = MINUTE;
const LEAST_SESSIONS = 4;
/** More than one in this many. */
const SHARE = 4;

/** @returns when the incident became a sign of an outage, UTC epoch milliseconds; null if it is none */
export function signOfOutage(incident: Incident): number | null {
  if (incident.subject !== undefined || incident.not_revived_because !== null) return null;
  if (incident.findings.some(({ rule }) => rule === 'orphan')) return null;
  const instants = incident.findings.filter(isSign).map(({ since }) => Date.parse(since));
  const first = Math.min(...instants);
  return Number.isFinite(first) ? first : null;
}

export function couldBeOutage(count: number, active: number): boolean {
  return count >= LEAST_SESSIONS && count * SHARE > active;
}

/** @param active how many sessions, with the unhealthy ones @returns the incidents of the outage at that instant; none if none */
export function correlated(signs: Iterable<readonly [string, number]>, at: number, active: number): string[] {
  const near = [...signs].filter(([, instant]) => Math.abs(instant - at) <= TOGETHER_MS);
  if (!couldBeOutage(near.length, active)) return [];
  // Each begins a minute; the fullest one counts.
  const minutes = near
    .sort(([, left], [, right]) => left - right)
    .map(([, from]) => near.filter(([, instant]) => instant >= from && instant <= from + TOGETHER_MS));
  const fullest = minutes.reduce((best, minute) => (minute.length > best.length ? minute : best), []);
  return couldBeOutage(fullest.length, active) ? fullest.map(([id]) => id) : [];
}

function isSign({ rule, reason }: Finding<IncidentRule>): boolean {
  switch (rule) {
    case 'silence':
    case 'error_cascade':
      return true;
    case 'crash':
      return gaveUpByItself(reason);
    case 'orphan':
    case 'runaway':
    case 'loop':
    case 'backlog':
    case 'provider_outage':
      return false;
    default:
      return rule satisfies never;
  }
}

const GIVEN_UP: readonly PlainReason[] = ['run_failed_without_answer', 'run_failed_provider_unavailable'];

function gaveUpByItself(reason: string): boolean {
  const end = readReason(reason);
  return end?.kind === 'exit' || (end?.kind === 'plain' && GIVEN_UP.includes(end.reason));
}
