/** A job as the review sees it: one message, over its attempts. */
import type { IncidentRule } from '../../src/config/rules.js';
import { isoTime } from '../../src/time.js';
import type { IncidentStory } from './incidentStory.js';

/** A job's state at the end of the day. `passed`: the rule was no longer true, nothing was done. */
export type JobEnd =
  | 'open'
  | 'recovered'
  | 'failed_again'
  | 'not_revived'
  | 'passed'
  | 'answered'
  | 'cancelled'
  | 'closed';

/** One message: its session, its revival, and every incident of the two. */
export interface JobFacts {
  readonly project: string;
  /** The first attempt. */
  readonly session_id: string;
  readonly rule: IncidentRule | null;
  readonly reason: string | null;
  readonly end: JobEnd;
  readonly detected_at: string;
  /** From the first detection until the revival worked again; null if it did not recover. */
  readonly recovered_after_ms: number | null;
  readonly revived: boolean;
  /** `failure_message_sent`, `…_unknown`, `…_given_up`; null if the chat was not notified. */
  readonly told: string | null;
  readonly not_revived_because: string | null;
  readonly issue: string | null;
  readonly incidents: number;
  /** Untrusted text. */
  readonly evidence: readonly string[];
  /** Untrusted text. */
  readonly excerpts: readonly string[];
}

/** What one rule found on a job, over its attempts. */
export interface Fault {
  readonly rule: IncidentRule | null;
  readonly reason: string | null;
  readonly detected_at: string;
  readonly issue: string | null;
  readonly incidents: number;
  readonly revived: boolean;
  /** As in the story of its last incident. */
  readonly measured_ms: number | null;
}

/** A job as the page describes it. `JobFacts` names only the last rule, and programs rely on that shape. */
export interface Job extends JobFacts {
  /** One per rule, in the order of their detection; at least one. */
  readonly faults: readonly Fault[];
  /** Final reading of its rule's clock, in milliseconds; a reason has whole minutes. */
  readonly measured_ms: number | null;
  /** Whether its second attempt once counted as recovered, whatever happened to it later. */
  readonly worked_again: boolean;
  /** The fault that followed, if this is one of the job's earlier faults (`byFault`); null if it is the job itself. */
  readonly went_on_with: Fault | null;
}

const LEFT_TO_PEOPLE: readonly JobEnd[] = ['failed_again', 'not_revived'];

/** @returns whether the job's end leaves something to do */
export function needsAPerson({ end }: Pick<JobFacts, 'end'>): boolean {
  return LEFT_TO_PEOPLE.includes(end);
}

/** @returns the incidents of each job in the order of their detection: a revival is the same job as its first attempt */
export function groupByJob(stories: readonly IncidentStory[]): IncidentStory[][] {
  const firstAttempt = new Map(
    stories.flatMap(({ session_id, revival_session_id }) =>
      session_id === null || revival_session_id === null ? [] : [[revival_session_id, session_id] as const],
    ),
  );
  const jobs = new Map<string, IncidentStory[]>();
  for (const story of [...stories].sort((a, b) => a.detected_at - b.detected_at)) {
    const session = story.session_id ?? '';
    const job = firstAttempt.get(session) ?? session;
    putInto(jobs, job, story);
  }
  return [...jobs.values()];
}

/** @param incidents of one job, in the order of their detection; at least one */
export function jobOf(incidents: readonly IncidentStory[]): Job {
  const [first] = incidents;
  const last = incidents.at(-1);
  if (first === undefined || last === undefined) throw new Error('a job has at least one incident');
  const end = endOf(incidents, last);
  return {
    project: last.project_key ?? '',
    session_id: first.session_id ?? '',
    rule: last.rule,
    reason: last.reason,
    end,
    detected_at: isoTime(first.detected_at),
    recovered_after_ms: end === 'recovered' && last.closed_at !== null ? last.closed_at - first.detected_at : null,
    revived: incidents.some(({ revived_at }) => revived_at !== null),
    told: last.told,
    not_revived_because: last.not_revived_because,
    issue: last.github_issue ?? first.github_issue,
    incidents: incidents.length,
    evidence: last.evidence,
    excerpts: incidents.flatMap(({ excerpt }) => (excerpt === null ? [] : [excerpt])),
    faults: faultsOf(incidents),
    measured_ms: last.measured_ms,
    worked_again: incidents.some(({ event, revived_at }) => event === 'session_recovered' && revived_at !== null),
    went_on_with: null,
  };
}

/** @returns the job without what only the page needs */
export function jobFacts(job: Job): JobFacts {
  const { faults: _f, measured_ms: _m, worked_again: _w, went_on_with: _o, ...facts } = job;
  return facts;
}

/** @returns the job once for each rule: under the last one as itself, under an earlier one with the fault that followed */
export function byFault(job: Job): Job[] {
  const last = job.faults.find(({ rule }) => rule === job.rule) ?? null;
  return job.faults.map((fault) => {
    const { rule, reason, measured_ms, detected_at, incidents, revived } = fault;
    if (fault === last) return { ...job, detected_at, incidents, issue: fault.issue ?? job.issue };
    return {
      ...job,
      rule,
      reason,
      measured_ms,
      detected_at,
      incidents,
      revived,
      issue: fault.issue,
      went_on_with: last,
    };
  });
}

function faultsOf(incidents: readonly IncidentStory[]): Fault[] {
  const byRule = new Map<string, IncidentStory[]>();
  for (const incident of incidents) putInto(byRule, JSON.stringify(incident.rule), incident);
  return [...byRule.values()].flatMap((found) => {
    const [first] = found;
    const last = found.at(-1);
    if (first === undefined || last === undefined) return [];
    const issues = found.flatMap(({ github_issue }) => (github_issue === null ? [] : [github_issue]));
    return {
      rule: first.rule,
      reason: last.reason,
      measured_ms: last.measured_ms,
      detected_at: isoTime(first.detected_at),
      issue: issues.at(-1) ?? null,
      incidents: found.length,
      revived: found.some(({ revived_at }) => revived_at !== null),
    };
  });
}

function endOf(incidents: readonly IncidentStory[], last: IncidentStory): JobEnd {
  if (incidents.some(({ closed_at }) => closed_at === null)) return 'open';
  const wasRevived = incidents.some(({ revived_at }) => revived_at !== null);
  if (last.event === 'session_recovered') return wasRevived ? 'recovered' : 'passed';
  if (last.event === 'session_unrecoverable') return wasRevived || last.attempt === 2 ? 'failed_again' : 'not_revived';
  if (last.outcome === 'answered') return 'answered';
  if (last.outcome === 'cancelled_by_person') return 'cancelled';
  return last.outcome === 'revival_failed' ? 'failed_again' : 'closed';
}

/** Adds to the group of a key, and creates the group if it is missing. */
export function putInto<Value>(groups: Map<string, Value[]>, key: string, value: Value): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [value]);
  else group.push(value);
}
