import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CriticalEvent } from '../../../src/jobs/incidents.js';
import { isoTime } from '../../../src/time.js';

/** @returns an event like those that the watchdog writes */
export function eventAt(incidentId: string, at: number, more: Partial<CriticalEvent> = {}): CriticalEvent {
  return {
    v: 1,
    id: `${incidentId}.detected`,
    incident_id: incidentId,
    final: false,
    timestamp: isoTime(at),
    event: 'session_unhealthy',
    session_id: 'tg_popoto_-5294327191_4469',
    project_key: 'popoto',
    reason: 'silent_for_15_minutes',
    rule: 'silence',
    action_taken: 'detected',
    github_issue: null,
    details: { tool_count: 40, attempt: 1, evidence: 'x'.repeat(120) },
    ...more,
  };
}

/** Writes many events at once, as they would stand in the file. */
export function appendLines(file: string, events: readonly CriticalEvent[]): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
}
