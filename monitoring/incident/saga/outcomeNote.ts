/**
 * Notes on its issue how an incident ended: a stored step of its own, retried with growing pauses. The session is free
 * meanwhile, because an unreachable GitHub must not keep its next fault from becoming an incident.
 */
import { type Backoff, pauseAfter } from '../../../src/backoff.js';
import { describeError, WatchkeeperError } from '../../../src/errors.js';
import type { Incident, OutcomeNote } from '../../../src/jobs/incidents.js';
import { HOUR, MINUTE } from '../../../src/time.js';
import type { SagaContext } from '../sagaContext.js';

/** About four hours with the pauses below. */
const MOST_TRIES = 10;
const BACKOFF: Backoff = { firstMs: MINUTE, longestMs: HOUR };

/** @returns what is still to be done, and when; null if it is done, given up, or there is no issue */
export async function noteOutcome(
  { reporter, clock, logger }: SagaContext,
  incident: Incident,
): Promise<OutcomeNote | null> {
  // The issue of an outage covers all incidents that it held, at its own end.
  if (incident.report.url === null || incident.hold !== undefined) return null;
  const { incident_id, report } = incident;
  try {
    await reporter.noteOutcome(incident);
    return null;
  } catch (error) {
    const tries = (incident.note?.tries ?? 0) + 1;
    const isHopeless = error instanceof WatchkeeperError && !error.retryable;
    if (isHopeless || tries >= MOST_TRIES) {
      const said = `incident ${incident_id}: that it ended is not noted on ${report.url}, and given up after ${tries} tries: ${describeError(error)}`;
      logger.error({ err: error, incident_id }, said);
      return null;
    }
    const pauseMs = pauseAfter(tries, BACKOFF);
    logger.warn({ err: error, incident_id, retry_in_ms: pauseMs }, 'the outcome could not be noted on the issue yet');
    return { tries, due_at: clock.now() + pauseMs, last_error: describeError(error) };
  }
}
