/**
 * The record of one fingerprint's issue. It is read before GitHub is, because lists lag; and the issue's text is made from it.
 */
import type { Step } from '../../../memory/observed/step.js';
import type { IncidentRule } from '../../../src/config/rules.js';
import { timeOfUlid } from '../../../src/ids.js';
import type { FailedLater } from '../../../src/jobs/incidents.js';
import type { StoredIssueRecords } from '../../../src/jobs/issueRecords.js';
import type { Outcome } from '../../../src/journal/schema.js';
import type { Redact } from '../../../src/log/redact.js';
import { askedWords, shorten } from '../../../src/log/shorten.js';
import type { IssueTopic } from './issueMarker.js';
import type { Needs } from './needs.js';

export interface ReportedCall {
  /** When it was requested; UTC epoch milliseconds. */
  readonly at: number;
  readonly tool: string;
  readonly outcome: Outcome | 'in_flight';
  readonly duration_ms: number | null;
  /** Untrusted text; cut when it is stored. */
  readonly input: string;
  /** Untrusted text; cut when it is stored. */
  readonly output: string;
}

/** One unhealthy session, as it is reported. */
export interface Occurrence {
  readonly incident_id: string;
  readonly session_id: string;
  readonly project_key: string;
  readonly rule: IncidentRule;
  /** When it was detected; UTC epoch milliseconds. */
  readonly at: number;
  /** How long the session had run; null if not known. */
  readonly duration_ms: number | null;
  readonly attempt: 1 | 2;
  /** The finding, in a sentence of ours: also shown in public repositories. */
  readonly finding: string;
  /** From the agent's own list; absent or null if it had none, or it is not known. Its title is not shown if only names are. */
  readonly step?: Step | null;
  /** The action taken, in a sentence of ours. Reporting an incident again with other words replaces it. */
  readonly done: string;
  /** The action needed from a person. Reporting an incident again replaces this, too. */
  readonly needs: Needs;
  /** The host that ran the session; null if none did, or it is not known. Shown only at full detail. */
  readonly host: string | null;
  /** The session's journal on that host, a path; shown only at full detail. */
  readonly journal: string;
  /** Which agent ran it, such as `claude 2.1.150`; absent if not known. Shown only in a private repository. */
  readonly agent?: string | null;
  /** The beginning of the message. Untrusted; a person's words, which are shown only in a private repository. */
  readonly asked?: string | null;
  /** The agent's own last words, if any. Untrusted; not shown if only names are. */
  readonly excerpt: string | null;
  /** The last calls, oldest first; the last 20 are kept. */
  readonly calls: readonly ReportedCall[];
}

export interface StoredOccurrence extends Occurrence {
  readonly filed: boolean;
  /** It ended well, or the issue was closed after it: it no longer keeps the issue open. */
  readonly settled: boolean;
  /** Only in earlier versions: its second attempt failed after the incident was closed. */
  readonly failed_later?: FailedLater | null;
}

/** `closing` before the request goes out, `closed` after it; `kept_open` if a person reopened it after that. */
export type ClosingState = 'closing' | 'closed' | 'kept_open' | null;

export interface IssueRecord {
  readonly fingerprint: string;
  readonly project_key: string;
  readonly rule: IssueTopic;
  readonly issue: { readonly number: number; readonly url: string } | null;
  /** The last title that was written or left to people; absent if not known. */
  readonly title?: string;
  /** Since when an issue may exist whose number is unknown: stored before the POST, UTC epoch milliseconds. */
  readonly creating_since: number | null;
  /** Closed by people as not planned: nothing more is written to it. */
  readonly left_alone: boolean;
  /** Oldest first; the issue's text is made from these. */
  readonly occurrences: readonly StoredOccurrence[];
  /** How many older ones are no longer kept. */
  readonly dropped: number;
  /** Incidents of this fingerprint that are in the roll-up issue, because of the hourly cap. */
  readonly elsewhere: readonly { readonly incident_id: string; readonly fingerprint: string }[];
  /** The text of an issue that was found without a record. */
  readonly earlier_text: string | null;
  readonly stale: boolean;
  readonly last_comment_at: number | null;
  readonly closing: ClosingState;
  /** Compare-and-set counter; 0 for a record that is not stored yet. */
  readonly rev: number;
}

/** Where the records are kept. */
export type IssueRecords = Omit<StoredIssueRecords<IssueRecord>, 'remove'>;

const MOST_OCCURRENCES = 50;
/** Older occurrences keep their words and lose their calls: a record stays under about 100 KiB. */
const OCCURRENCES_WITH_CALLS = 6;
const MOST_CALLS = 20;
const LONGEST_SENTENCE = 1_000;
const LONGEST_EXCERPT = 1_000;
const LONGEST_PREVIEW = 200;
const LONGEST_TOOL_NAME = 80;

export function emptyRecord(fingerprint: string, projectKey: string, rule: IssueTopic): IssueRecord {
  return {
    fingerprint,
    project_key: projectKey,
    rule,
    issue: null,
    creating_since: null,
    left_alone: false,
    occurrences: [],
    dropped: 0,
    elsewhere: [],
    earlier_text: null,
    stale: false,
    last_comment_at: null,
    closing: null,
    rev: 0,
  };
}

const UNKNOWN_NEEDS: Needs = { who: 'person', what: 'An older version filed this: see below what was done.' };

/** @returns the record, with the fields that records of older versions lack */
export function ofFormerVersion(record: IssueRecord): IssueRecord {
  if (record.closing !== undefined) return record;
  const lacking = { needs: UNKNOWN_NEEDS, host: null, journal: '', settled: false };
  return { ...record, closing: null, occurrences: record.occurrences.map((one) => ({ ...lacking, ...one })) };
}

/** Once per incident. @param filed whether the issue is created for it; a known incident keeps its stored value */
export function withOccurrence(record: IssueRecord, occurrence: Occurrence, filed: boolean): IssueRecord {
  const known = record.occurrences.findIndex(({ incident_id }) => incident_id === occurrence.incident_id);
  if (known === -1) {
    const all = [...record.occurrences, { ...occurrence, filed, settled: isSettled(occurrence) }];
    const kept = all.length > MOST_OCCURRENCES ? withoutOne(all) : all;
    const withoutCalls = kept.length - OCCURRENCES_WITH_CALLS;
    const occurrences = kept.map((one, index) => (index < withoutCalls ? { ...one, calls: [], excerpt: null } : one));
    // A process that is about to close the issue checks once more.
    const closing = record.closing === 'closing' ? null : record.closing;
    return { ...record, occurrences, dropped: record.dropped + all.length - kept.length, closing, stale: true };
  }
  const { done, needs } = occurrence;
  const former = record.occurrences[known];
  const isAsBefore = former?.done === done && former.needs.who === needs.who && former.needs.what === needs.what;
  if (isAsBefore) return record;
  const occurrences = record.occurrences.map((one, index) =>
    index === known ? { ...one, done, needs, settled: one.settled || isSettled(occurrence) } : one,
  );
  return { ...record, occurrences, stale: true };
}

function isSettled({ needs }: Occurrence): boolean {
  return needs.who === 'nobody';
}

/** The oldest settled one goes first: one that is not settled keeps the issue open. The newest is kept. */
function withoutOne(all: readonly StoredOccurrence[]): StoredOccurrence[] {
  const oldest = all.slice(0, -1).findIndex(({ settled }) => settled);
  return all.toSpliced(Math.max(oldest, 0), 1);
}

export function occurrenceIn(record: IssueRecord, incidentId: string): StoredOccurrence | undefined {
  return record.occurrences.find(({ incident_id }) => incident_id === incidentId);
}

/** @returns the occurrence in its stored form: redacted first, then cut */
export function storable(occurrence: Occurrence, redact: Redact): Occurrence {
  const cut = (text: string, longest: number) => shorten(redact(text), longest);
  return {
    ...occurrence,
    finding: cut(occurrence.finding, LONGEST_SENTENCE),
    done: cut(occurrence.done, LONGEST_SENTENCE),
    needs: { ...occurrence.needs, what: cut(occurrence.needs.what, LONGEST_SENTENCE) },
    host: occurrence.host === null ? null : cut(occurrence.host, LONGEST_PREVIEW),
    journal: redact(occurrence.journal),
    ...(occurrence.step && { step: { ...occurrence.step, title: cut(occurrence.step.title, LONGEST_PREVIEW) } }),
    ...(occurrence.asked && { asked: askedWords(occurrence.asked, redact) }),
    ...(occurrence.agent && { agent: cut(occurrence.agent, LONGEST_TOOL_NAME) }),
    excerpt: occurrence.excerpt === null ? null : cut(occurrence.excerpt, LONGEST_EXCERPT),
    calls: occurrence.calls.slice(-MOST_CALLS).map((call) => ({
      ...call,
      tool: cut(call.tool, LONGEST_TOOL_NAME),
      input: cut(call.input, LONGEST_PREVIEW),
      output: cut(call.output, LONGEST_PREVIEW),
    })),
  };
}

/** Keeps what finds the issue again, without words of agents. @param before epoch milliseconds @returns null if nothing is left */
export function withoutOld(record: IssueRecord, before: number): IssueRecord | null {
  const { occurrences, elsewhere, issue, creating_since, last_comment_at } = record;
  const isYoungId = (incidentId: string) => (timeOfUlid(incidentId) ?? before) >= before;
  const isYoung =
    occurrences.some(({ at }) => at >= before) || elsewhere.some(({ incident_id }) => isYoungId(incident_id));
  const isSettled = creating_since === null && (last_comment_at ?? 0) < before;
  if (issue === null && isSettled && !isYoung) return null;
  const keptElsewhere = elsewhere.filter(({ incident_id }) => isYoungId(incident_id));
  const hasOldWords = occurrences.some(
    ({ at, calls, excerpt, step = null, asked = null }) =>
      at < before && (calls.length > 0 || excerpt !== null || step !== null || asked !== null),
  );
  if (keptElsewhere.length === elsewhere.length && !hasOldWords) return record;
  const keptOccurrences = occurrences.map((one) =>
    one.at < before ? { ...one, calls: [], excerpt: null, step: null, asked: null } : one,
  );
  return { ...record, elsewhere: keptElsewhere, occurrences: keptOccurrences };
}

export function isDue({ closing, left_alone, occurrences }: IssueRecord): boolean {
  if (closing !== null) return closing === 'closing';
  return !left_alone && occurrences.length > 0 && occurrences.every(({ settled }) => settled);
}
