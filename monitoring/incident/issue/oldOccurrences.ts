import { timeOfUlid } from '../../../src/ids.js';
import type { IssueRecord } from './issueRecords.js';

/**
 * Reduces an issue's record of occurrences before an instant to our own words and the issue's number, so that the issue is
 * found again, without what agents said and called.
 * @param before epoch milliseconds
 * @returns the record itself if nothing is old; null if nothing of it is worth keeping
 */
export function withoutOld(record: IssueRecord, before: number): IssueRecord | null {
  const { occurrences, elsewhere, issue, creating_since, last_comment_at } = record;
  const isYoungId = (incidentId: string) => (timeOfUlid(incidentId) ?? before) >= before;
  const isYoung =
    occurrences.some(({ at }) => at >= before) || elsewhere.some(({ incident_id }) => isYoungId(incident_id));
  const isSettled = creating_since === null && (last_comment_at ?? 0) < before;
  if (issue === null && isSettled && !isYoung) return null;
  const keptElsewhere = elsewhere.filter(({ incident_id }) => isYoungId(incident_id));
  const hasOldWords = occurrences.some(
    ({ at, calls, excerpt }) => at < before && (calls.length > 0 || excerpt !== null),
  );
  if (keptElsewhere.length === elsewhere.length && !hasOldWords) return record;
  const keptOccurrences = occurrences.map((one) => (one.at < before ? { ...one, calls: [], excerpt: null } : one));
  return { ...record, elsewhere: keptElsewhere, occurrences: keptOccurrences };
}
