/**
 * What we know of the issue of one fingerprint. It is looked at before GitHub is, because lists lag; and it is what the
 * issue's text is made from.
 */
import type { IncidentRule } from '../../src/findings.js';
import type { Outcome } from '../../src/journal/schema.js';
import type { Redact } from '../../src/redact.js';
import { shorten } from '../../src/shorten.js';

/** A tool call as it is reported. */
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
  /** The leading rule. */
  readonly rule: IncidentRule;
  /** When it was detected; UTC epoch milliseconds. */
  readonly at: number;
  /** How long the session had run; null where that is not known. */
  readonly duration_ms: number | null;
  readonly attempt: 1 | 2;
  /** The finding, in a sentence of ours: shown in public repositories as well. */
  readonly finding: string;
  /** What was done about it, in a sentence of ours. Reporting an incident again with other words replaces them. */
  readonly done: string;
  /** The agent's own last words, if any. Untrusted; not shown where only names are. */
  readonly excerpt: string | null;
  /** The last calls, oldest first; the last 20 are kept. */
  readonly calls: readonly ReportedCall[];
}

export interface StoredOccurrence extends Occurrence {
  /** Whether the issue was made for it. */
  readonly filed: boolean;
}

export interface IssueRecord {
  readonly fingerprint: string;
  readonly project_key: string;
  readonly rule: IncidentRule;
  readonly issue: { readonly number: number; readonly url: string } | null;
  /** Since when an issue may exist that we know no number of: stored before the POST, UTC epoch milliseconds. */
  readonly creating_since: number | null;
  /** Closed by people as not planned: nothing more is written to it. */
  readonly left_alone: boolean;
  /** Oldest first; what the text of the issue is made from. */
  readonly occurrences: readonly StoredOccurrence[];
  /** How many older ones are not kept any more. */
  readonly dropped: number;
  /** Incidents of this fingerprint that were put into another issue, because of the hourly cap. */
  readonly elsewhere: readonly { readonly incident_id: string; readonly fingerprint: string }[];
  /** The text that an issue had which we found without a record of it. */
  readonly earlier_text: string | null;
  /** Whether the issue's text lacks something of this record. */
  readonly stale: boolean;
  readonly last_comment_at: number | null;
  /** Compare-and-set counter; 0 for a record that is not stored yet. */
  readonly rev: number;
}

/** Where the records are kept. */
export interface IssueRecords {
  get(fingerprint: string): Promise<IssueRecord | null>;
  /**
   * Stores the record with `rev` set to `expectedRev + 1`, if the stored one still has `expectedRev` (0: there is none).
   * @returns false where somebody else was first
   */
  put(fingerprint: string, record: IssueRecord, expectedRev: number): Promise<boolean>;
  /** @returns when the last new issue of the project was made, UTC epoch milliseconds; null where that is over an hour ago */
  lastCreated(projectKey: string): Promise<number | null>;
  noteCreated(projectKey: string, at: number): Promise<void>;
  /** @returns the key of this installation's marks; always the same */
  markerKey(): Promise<string>;
}

const MOST_OCCURRENCES = 50;
/** Older occurrences keep their words and lose their calls: a record stays under about 100 KiB. */
const OCCURRENCES_WITH_CALLS = 6;
const MOST_CALLS = 20;
const LONGEST_SENTENCE = 1_000;
const LONGEST_EXCERPT = 1_000;
const LONGEST_PREVIEW = 200;
const LONGEST_TOOL_NAME = 80;

export function emptyRecord(fingerprint: string, projectKey: string, rule: IncidentRule): IssueRecord {
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
    rev: 0,
  };
}

/**
 * @param filed whether the issue is made for it; what is stored of a known incident stands
 * @returns the record with the occurrence in it, once per incident; unchanged where it holds just this
 */
export function withOccurrence(record: IssueRecord, occurrence: Occurrence, filed: boolean): IssueRecord {
  const known = record.occurrences.findIndex(({ incident_id }) => incident_id === occurrence.incident_id);
  if (known === -1) {
    const all = [...record.occurrences, { ...occurrence, filed }];
    const kept = all.slice(-MOST_OCCURRENCES);
    const withoutCalls = kept.length - OCCURRENCES_WITH_CALLS;
    const occurrences = kept.map((one, index) => (index < withoutCalls ? { ...one, calls: [], excerpt: null } : one));
    return { ...record, occurrences, dropped: record.dropped + all.length - kept.length, stale: true };
  }
  const { done } = occurrence;
  if (record.occurrences[known]?.done === done) return record;
  const occurrences = record.occurrences.map((one, index) => (index === known ? { ...one, done } : one));
  return { ...record, occurrences, stale: true };
}

export function occurrenceIn(record: IssueRecord, incidentId: string): StoredOccurrence | undefined {
  return record.occurrences.find(({ incident_id }) => incident_id === incidentId);
}

/** @returns the occurrence as it may be stored: redacted first, then cut */
export function storable(occurrence: Occurrence, redact: Redact): Occurrence {
  const cut = (text: string, longest: number) => shorten(redact(text), longest);
  return {
    ...occurrence,
    finding: cut(occurrence.finding, LONGEST_SENTENCE),
    done: cut(occurrence.done, LONGEST_SENTENCE),
    excerpt: occurrence.excerpt === null ? null : cut(occurrence.excerpt, LONGEST_EXCERPT),
    calls: occurrence.calls.slice(-MOST_CALLS).map((call) => ({
      ...call,
      tool: cut(call.tool, LONGEST_TOOL_NAME),
      input: cut(call.input, LONGEST_PREVIEW),
      output: cut(call.output, LONGEST_PREVIEW),
    })),
  };
}
