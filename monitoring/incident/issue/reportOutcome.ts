/** The outcome of one report to an issue, and when to retry if it could not be made. */
import { describeError } from '../../../src/errors.js';
import type { ReportState } from '../../../src/jobs/incidents.js';
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/time.js';
import type { IssueRecord } from './issueRecords.js';
import type { SinkError } from './issueSink.js';

export interface ReportOutcome {
  readonly state: ReportState;
  /** The issue's address for people; also set while its text could not be written yet. */
  readonly url: string | null;
  /** When to report again, UTC epoch milliseconds; null if the report has ended. */
  readonly retry_at: number | null;
  /** The obstacle, for the operator. */
  readonly error: string | null;
}

/** While it is not known whether the issue was created. */
export const RETRY_IN_DOUBT_MS = 15 * SECOND;
const RETRY_UNREACHED_MS = MINUTE;
const RETRY_REFUSED_MS = 15 * MINUTE;
/** People need time to repair a token; nobody needs an issue a day later. */
const GIVE_UP_AFTER_MS = DAY;

export function finished(state: ReportState, url: string): ReportOutcome {
  return { state, url, retry_at: null, error: null };
}

/**
 * @param record of the issue that could not be written
 * @param occurredAt when the occurrence began, UTC epoch milliseconds: a day later the report is given up
 * @param now UTC epoch milliseconds
 */
export function unfinished(record: IssueRecord, error: SinkError, occurredAt: number, now: number): ReportOutcome {
  const outcome = { url: record.issue?.url ?? null, error: describeError(error) };
  if (now - occurredAt > GIVE_UP_AFTER_MS) return { ...outcome, state: 'given_up', retry_at: null };
  const state = record.creating_since === null ? 'pending' : 'ambiguous';
  return { ...outcome, state, retry_at: now + retryAfter(error) };
}

/** @returns milliseconds */
function retryAfter({ kind, retryAfterMs }: SinkError): number {
  switch (kind) {
    case 'limited':
      return Math.min(Math.max(retryAfterMs ?? MINUTE, SECOND), HOUR);
    case 'not_reached':
      return RETRY_UNREACHED_MS;
    case 'ambiguous':
      return RETRY_IN_DOUBT_MS;
    case 'refused':
      return RETRY_REFUSED_MS;
    default:
      return kind satisfies never;
  }
}
