/** A day's critical events as facts; `page.ts` prints them. */
import type { IncidentRule } from '../../src/config/rules.js';
import { DAY, isoTime } from '../../src/time.js';
import type { DayZone } from './dayZone.js';
import type { IncidentStory } from './incidentStory.js';
import {
  byFault,
  grouped,
  type Job,
  type JobFacts,
  jobFacts,
  jobsOf,
  needsAPerson,
  troublesAmong,
} from './jobFacts.js';
import type { WatchFacts } from './watchTimes.js';

export const WEEK_MS = 7 * DAY;
/** Events that are about no job, although they may name a session. */
const NO_JOBS: readonly string[] = ['queue_stalled', 'provider_outage', 'message_undelivered'];

/** A fault of more than one job of a project in eight days, with at least one on the last of them. */
export interface RepeatFacts {
  readonly project: string;
  readonly rule: IncidentRule;
  /** Jobs: a revival that fails like its first attempt is no repetition. */
  readonly today: number;
  readonly week_before: number;
  /** How many of these eight days had one. */
  readonly days: number;
}

/** The jobs that got into trouble in the seven days before. */
export interface WeekFacts {
  readonly jobs: number;
  readonly needed_a_person: number;
  readonly last_at: string | null;
}

export interface IssueFacts {
  readonly number: number | null;
  readonly url: string;
  readonly project: string;
  readonly rules: readonly IncidentRule[];
  readonly incidents: number;
  /** Whether a job in it did not recover by itself. */
  readonly needs_a_person: boolean;
}

/** Something that is about no job: a gap of the watch, a blocked queue, an outage, a message that no bridge took. */
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

/** An agent in a person's terminal seemed stuck. It did not run for a chat, so it is no job. */
export interface NoticeFacts {
  /** Null if its directory is no project's. */
  readonly project: string | null;
  readonly session_id: string;
  readonly rule: IncidentRule | null;
  readonly reason: string | null;
  readonly at: string;
}

export interface Day {
  readonly date: string;
  /** Lines of that day. */
  readonly events: number;
  /** In the order of their detection. */
  readonly jobs: readonly Job[];
  readonly repeats: readonly RepeatFacts[];
  readonly week_before: WeekFacts;
  /** Those that need a person first. */
  readonly issues: readonly IssueFacts[];
  readonly others: readonly OtherFacts[];
  /** In the order of their lines. */
  readonly notices: readonly NoticeFacts[];
}

/** The day for programs; they rely on this shape. */
export interface DayFacts extends Omit<Day, 'jobs'> {
  readonly jobs: readonly JobFacts[];
  readonly watch: WatchFacts;
}

/** A day whose events are being read. */
export interface OpenDay {
  readonly date: string;
  /** The day's first instant, epoch milliseconds. */
  readonly begin: number;
  /** The first instant after the day, epoch milliseconds. */
  readonly end: number;
  readonly stories: Map<string, IncidentStory>;
  readonly today: Set<string>;
  /** Lines of that day. */
  events: number;
}

export function factsOf({ date, begin, stories, today, events }: OpenDay, zone: DayZone): Day {
  const isOfToday = ({ last, closed_at }: IncidentStory) => closed_at === null || today.has(last.incident_id);
  const others = [...stories.values()].filter((story) => !isOfJob(story) && !isNotice(story) && isOfToday(story));
  const notices = [...stories.values()].filter((story) => isNotice(story) && isOfToday(story));
  const all = jobsOf([...stories.values()].filter(isOfJob));
  const jobs = all.filter((job) => job.stories.some(isOfToday));
  return {
    date,
    events,
    jobs,
    repeats: repeatsAmong(all, begin, zone),
    week_before: weekBefore(all, begin),
    issues: issuesOf(jobs),
    others: others.map(otherFacts),
    notices: notices.map(noticeFacts),
  };
}

export function factsForPrograms(day: Day, watch: WatchFacts): DayFacts {
  return { ...day, jobs: day.jobs.map(jobFacts), watch };
}

/** An incident of many sessions, or of a waiting one, is not trouble of the one that it names; nor is a refusing chat. */
function isOfJob(story: IncidentStory): boolean {
  const { session_id, event } = story.last;
  return session_id !== null && !NO_JOBS.includes(event) && !isNotice(story);
}

function isNotice({ last }: IncidentStory): boolean {
  return last.action_taken === 'noticed';
}

function noticeFacts({ last, detected_at }: IncidentStory): NoticeFacts {
  const { project_key: project, session_id, rule, reason } = last;
  return { project, session_id: session_id ?? '', rule, reason, at: isoTime(detected_at) };
}

function repeatsAmong(jobs: readonly Job[], begin: number, zone: DayZone): RepeatFacts[] {
  const repeats = troublesAmong(jobs.flatMap(byFault)).flatMap((trouble): RepeatFacts[] => {
    const [{ project, rule }] = trouble;
    const times = trouble.map(instantOf).filter((at) => at >= begin - WEEK_MS);
    const today = times.filter((at) => at >= begin).length;
    if (project === '' || rule === null || today === 0 || times.length < 2) return [];
    const days = new Set(times.map((at) => zone.dayOf(at))).size;
    return [{ project, rule, today, week_before: times.length - today, days }];
  });
  return repeats.sort((a, b) => b.days - a.days || b.today + b.week_before - (a.today + a.week_before));
}

function weekBefore(jobs: readonly Job[], begin: number): WeekFacts {
  const found = jobs.filter((job) => instantOf(job) >= begin - WEEK_MS && instantOf(job) < begin);
  return {
    jobs: found.length,
    needed_a_person: found.filter(needsAPerson).length,
    last_at: found.at(-1)?.detected_at ?? null,
  };
}

function instantOf({ detected_at }: Job): number {
  return Date.parse(detected_at);
}

function issuesOf(jobs: readonly Job[]): IssueFacts[] {
  const reported = jobs.flatMap(byFault).filter(({ issue }) => issue !== null);
  const issues = grouped(reported, ({ issue }) => issue ?? '').map((about) => ({
    number: issueNumber(about[0].issue ?? ''),
    url: about[0].issue ?? '',
    project: about[0].project,
    rules: [...new Set(about.flatMap(({ rule }) => rule ?? []))],
    incidents: about.reduce((sum, { incidents }) => sum + incidents, 0),
    needs_a_person: about.some(needsAPerson),
  }));
  return issues.sort(
    (a, b) => Number(b.needs_a_person) - Number(a.needs_a_person) || (a.number ?? 0) - (b.number ?? 0),
  );
}

export function issueNumber(url: string): number | null {
  const number = /\/issues\/(\d{1,9})(?:\.md)?$/.exec(url)?.[1];
  return number === undefined ? null : Number(number);
}

function otherFacts({ last, detected_at, closed_at, evidence, excerpt }: IncidentStory): OtherFacts {
  const scalars = Object.entries(last.details ?? {}).flatMap(([field, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value) ? [[field, String(value)]] : [],
  );
  const findings = evidence.length === 0 ? {} : { evidence: evidence.join('; ') };
  return {
    event: last.event,
    at: isoTime(detected_at),
    reason: last.reason,
    is_over: closed_at !== null,
    details: { ...Object.fromEntries(scalars), ...findings },
    excerpt,
  };
}
