/** Critical events without the record of an incident: detected once, and closed once if what they are about lasts. */
import { describeError } from '../../src/errors.js';
import type { AgentName, CriticalEvent } from '../../src/jobs/incidents.js';
import type { Logger } from '../../src/log/logger.js';
import { isoTime } from '../../src/time.js';

export interface EventLog {
  /** Resolves when the line is safe. @throws UnreachableError if it cannot be written */
  logCriticalEvent(event: CriticalEvent): Promise<void>;
}

export interface Notice {
  readonly incident_id: string;
  /** `noticed`: nothing follows. */
  readonly step: 'detected' | 'noticed' | 'closed';
  readonly event: CriticalEvent['event'];
  /** Stable, without spaces. */
  readonly reason: string;
  readonly details: CriticalEvent['details'];
  /** Whether nothing further is logged about it; always after `closed`. */
  readonly final?: boolean;
  readonly session_id?: string | null;
  readonly project_key?: string | null;
  readonly agent?: AgentName;
  /** Untrusted; the log of events redacts and cuts it. */
  readonly asked?: string;
}

/** @param now UTC epoch milliseconds */
export function noticeEvent({ step, final = step !== 'detected', ...notice }: Notice, now: number): CriticalEvent {
  return {
    v: 1,
    id: `${notice.incident_id}.${step}`,
    final,
    timestamp: isoTime(now),
    session_id: null,
    project_key: null,
    rule: null,
    action_taken: step === 'closed' ? 'suppressed' : step,
    github_issue: null,
    ...notice,
  };
}

/** A full disk must not stop the recovery: the log gets the event instead. @returns whether the event is written */
export async function writeEvent(events: EventLog, logger: Logger, event: CriticalEvent): Promise<boolean> {
  try {
    await events.logCriticalEvent(event);
    return true;
  } catch (error) {
    logger.error({ err: error, event }, `critical event ${event.id} could not be written: ${describeError(error)}`);
    return false;
  }
}
