/** What a day's critical events say, as facts; `reviewText.ts` puts them into words. */
import type { CriticalEvent, Rule } from '../../src/model.js';
import { DAY, isoTime } from '../../src/time.js';
import { type IncidentStory, withEvent } from './incidentStory.js';

/** How a job stands at the end of the day. `passed`: the rule was no longer true, nothing was done. */
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
  readonly rule: Rule | null;
  readonly reason: string | null;
  readonly end: JobEnd;
  readonly detected_at: string;
  /** From the first detection to the revival at work; null where it did not recover. */
  readonly recovered_after_ms: number | null;
  readonly revived: boolean;
  /** `failure_message_sent`, `…_unknown`, `…_given_up`; null where the chat was not told. */
  readonly told: string | null;
  readonly not_revived_because: string | null;
  readonly issue: string | null;
  readonly incidents: number;
  /** Untrusted text. */
  readonly evidence: readonly string[];
  /** Untrusted text. */
  readonly excerpts: readonly string[];
}

/** Counts jobs: a revival that fails as its first attempt did is no repetition. */
export interface RepeatFacts {
  readonly project: string;
  readonly rule: Rule;
  readonly today: number;
  /** In the seven days before. */
  readonly week_before: number;
  /** How many of these eight days had one. */
  readonly days: number;
}

export interface IssueFacts {
  /** Null where the address has no number. */
  readonly number: number | null;
  readonly url: string;
  readonly project: string;
  readonly rules: readonly Rule[];
  readonly incidents: number;
  /** Whether a job in it did not recover by itself. */
  readonly needs_a_person: boolean;
}

/** Something that is about no job: a gap of the watch, a queue that stood still, an outage, a message nobody took. */
export interface OtherFacts {
  readonly event: string;
  readonly at: string;
  readonly reason: string | null;
  readonly is_over: boolean;
  /** Untrusted text. */
  readonly details: Readonly<Record<string, string>>;
  /** Untrusted text. */
  readonly excerpt: string | null;
}

export interface DayFacts {
  readonly date: string;
  /** Lines of that day. */
  readonly events: number;
  /** In the order of their detection. */
  readonly jobs: readonly JobFacts[];
  readonly repeats: readonly RepeatFacts[];
  /** Those that need a person first. */
  readonly issues: readonly IssueFacts[];
  readonly others: readonly OtherFacts[];
}

const WEEK_MS = 7 * DAY;

/** Reads the events of a day, and as much before it as the day's stories need. */
export class DayFolder {
  private readonly date: string;
  private readonly begin: number;
  private readonly stories = new Map<string, IncidentStory>();
  private readonly today = new Set<string>();
  private events = 0;

  /** @param date as `2026-02-05`, in UTC */
  constructor(date: string) {
    this.date = date;
    this.begin = Date.parse(`${date}T00:00:00.000Z`);
  }

  /** Takes the log's events in their order; later days change nothing. */
  add(event: CriticalEvent): void {
    const at = Date.parse(event.timestamp);
    if (at >= this.begin + DAY) return;
    const story = withEvent(this.stories.get(event.incident_id) ?? null, event, at);
    // What was over a week before the day is of no use to it: this is what keeps the memory small.
    if (story.closed_at !== null && story.closed_at < this.begin - WEEK_MS) this.stories.delete(event.incident_id);
    else this.stories.set(event.incident_id, story);
    if (at < this.begin) return;
    this.events += 1;
    this.today.add(event.incident_id);
  }

  facts(): DayFacts {
    const ofJobs = [...this.stories.values()].filter(({ session_id }) => session_id !== null);
    const others = [...this.stories.values()].filter(({ session_id }) => session_id === null);
    const isOfToday = (story: IncidentStory) => this.today.has(story.incident_id) || story.closed_at === null;
    const jobs = groupByJob(ofJobs)
      .filter((incidents) => incidents.some(isOfToday))
      .map(jobFacts);
    return {
      date: this.date,
      events: this.events,
      jobs,
      repeats: repeatsAmong(groupByJob(ofJobs), this.begin),
      issues: issuesOf(jobs),
      others: others.filter((story) => this.today.has(story.incident_id)).map(otherFacts),
    };
  }
}

/** A revival is the same job as its first attempt. */
function groupByJob(stories: readonly IncidentStory[]): IncidentStory[][] {
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

function jobFacts(incidents: readonly IncidentStory[]): JobFacts {
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
  };
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

/** @returns what befell more than one job of a project in eight days, and at least one on the last of them */
function repeatsAmong(jobs: readonly (readonly IncidentStory[])[], begin: number): RepeatFacts[] {
  const groups = new Map<string, { project: string; rule: Rule; times: number[] }>();
  for (const [first] of jobs) {
    if (first === undefined || first.detected_at < begin - WEEK_MS) continue;
    const { project_key: project, rule, detected_at } = first;
    if (project === null || rule === null) continue;
    const key = `${project} ${rule}`;
    const group = groups.get(key) ?? { project, rule, times: [] };
    group.times.push(detected_at);
    groups.set(key, group);
  }
  return [...groups.values()]
    .map(({ project, rule, times }) => ({
      project,
      rule,
      today: times.filter((at) => at >= begin).length,
      week_before: times.filter((at) => at < begin).length,
      days: new Set(times.map((at) => Math.floor(at / DAY))).size,
    }))
    .filter(({ today, week_before }) => today > 0 && today + week_before > 1)
    .sort((a, b) => b.today + b.week_before - (a.today + a.week_before));
}

const LEFT_TO_PEOPLE: readonly JobEnd[] = ['failed_again', 'not_revived'];

/** @returns whether the job's end leaves something to do */
export function needsAPerson({ end }: Pick<JobFacts, 'end'>): boolean {
  return LEFT_TO_PEOPLE.includes(end);
}

function issuesOf(jobs: readonly JobFacts[]): IssueFacts[] {
  const byUrl = new Map<string, JobFacts[]>();
  for (const job of jobs) if (job.issue !== null) putInto(byUrl, job.issue, job);
  const issues = [...byUrl].map(([url, about]) => ({
    number: issueNumber(url),
    url,
    project: about[0]?.project ?? '',
    rules: [...new Set(about.flatMap(({ rule }) => (rule === null ? [] : [rule])))],
    incidents: about.reduce((sum, { incidents }) => sum + incidents, 0),
    needs_a_person: about.some(needsAPerson),
  }));
  return issues.sort(
    (a, b) => Number(b.needs_a_person) - Number(a.needs_a_person) || (a.number ?? 0) - (b.number ?? 0),
  );
}

function issueNumber(url: string): number | null {
  const number = /\/issues\/(\d{1,9})(?:\.md)?$/.exec(url)?.[1];
  return number === undefined ? null : Number(number);
}

function otherFacts(story: IncidentStory): OtherFacts {
  const scalars = Object.entries(story.details).filter(([, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  return {
    event: story.event,
    at: isoTime(story.detected_at),
    reason: story.reason,
    is_over: story.closed_at !== null,
    details: Object.fromEntries(scalars.map(([name, value]) => [name, String(value)])),
    excerpt: story.excerpt,
  };
}

/** Adds to the group of a key, which is made where it is missing. */
export function putInto<Value>(groups: Map<string, Value[]>, key: string, value: Value): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [value]);
  else group.push(value);
}
