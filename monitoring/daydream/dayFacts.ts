/** A day's critical events as facts; `reviewText.ts` puts them into words. */
import type { IncidentRule } from '../../src/config/rules.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { isoTime } from '../../src/time.js';
import type { DayZone } from './dayZone.js';
import { type IncidentStory, withEvent } from './incidentStory.js';
import { byFault, groupByJob, type Job, type JobFacts, jobFacts, jobOf, needsAPerson, putInto } from './jobFacts.js';
import { UNKNOWN_WATCH, type WatchFacts } from './watchTimes.js';
import { type RepeatFacts, repeatsAmong, WEEK_MS, type WeekFacts, weekBefore } from './weekFacts.js';

const NO_JOBS: readonly string[] = ['queue_stalled', 'provider_outage', 'message_undelivered'];

export interface IssueFacts {
  /** Null if the address has no number. */
  readonly number: number | null;
  readonly url: string;
  readonly project: string;
  readonly rules: readonly IncidentRule[];
  readonly incidents: number;
  /** Whether a job in it did not recover by itself. */
  readonly needs_a_person: boolean;
}

/** Something that is about no job: a gap of the watch, a blocked queue, an outage, a message nobody took. */
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
  readonly week_before: WeekFacts;
  /** Those that need a person first. */
  readonly issues: readonly IssueFacts[];
  readonly others: readonly OtherFacts[];
  /** When a watchdog watched on this day. */
  readonly watch: WatchFacts;
}

/** The input of the page. */
export interface Day extends DayFacts {
  readonly jobs: readonly Job[];
}

/** @returns the day for programs to read */
export function dayFacts(day: Day): DayFacts {
  return { ...day, jobs: day.jobs.map(jobFacts) };
}

/** Reads the events of a day, and as many before it as the day's stories need. */
export class DayFolder {
  readonly #date: string;
  readonly #zone: DayZone;
  readonly #begin: number;
  readonly #end: number;
  readonly #stories = new Map<string, IncidentStory>();
  readonly #today = new Set<string>();
  #events = 0;

  /** @param date as `2026-02-05`, a day of the zone */
  constructor(date: string, zone: DayZone) {
    this.#date = date;
    this.#zone = zone;
    this.#begin = zone.beginOf(date);
    this.#end = zone.endOf(date);
  }

  /** The day's first instant, epoch milliseconds. */
  get begin(): number {
    return this.#begin;
  }

  /** The first instant after the day, epoch milliseconds. */
  get end(): number {
    return this.#end;
  }

  /** Takes over the stories of the days before. */
  beginWith(stories: Iterable<IncidentStory>): void {
    for (const story of stories) if (!this.#isForgotten(story)) this.#stories.set(story.incident_id, story);
  }

  /** How many incidents it remembers: those that ended long ago are forgotten. */
  get kept(): number {
    return this.#stories.size;
  }

  /** Takes the log's events in order; later days change nothing. */
  add(event: CriticalEvent): void {
    const at = Date.parse(event.timestamp);
    if (at >= this.#end) return;
    const story = withEvent(this.#stories.get(event.incident_id) ?? null, event, at);
    if (this.#isForgotten(story)) this.#stories.delete(event.incident_id);
    else this.#stories.set(event.incident_id, story);
    if (at < this.#begin) return;
    this.#events += 1;
    this.#today.add(event.incident_id);
  }

  /** An incident that ended a week before the day is of no use to it; this keeps memory small. */
  #isForgotten({ closed_at }: IncidentStory): boolean {
    return closed_at !== null && closed_at < this.#begin - WEEK_MS;
  }

  /** @param watchOf returns when the day was watched, given whether it has events */
  day(watchOf: (hasEvents: boolean) => WatchFacts = () => UNKNOWN_WATCH): Day {
    const ofJobs = [...this.#stories.values()].filter(isOfJob);
    const others = [...this.#stories.values()].filter((story) => !isOfJob(story));
    const isOfToday = (story: IncidentStory) => this.#today.has(story.incident_id) || story.closed_at === null;
    const byJob = groupByJob(ofJobs);
    const jobs = byJob.filter((incidents) => incidents.some(isOfToday)).map(jobOf);
    return {
      date: this.#date,
      events: this.#events,
      jobs,
      repeats: repeatsAmong(byJob, this.#begin, this.#zone),
      week_before: weekBefore(byJob.map(jobOf), this.#begin),
      issues: issuesOf(jobs),
      others: others.filter(isOfToday).map(otherFacts),
      watch: watchOf(this.#events > 0),
    };
  }
}

/**
 * An incident that hit many sessions at once, or one of a waiting session, is not trouble of the one session that it names; nor
 * is a chat that refuses.
 */
function isOfJob({ session_id, event }: IncidentStory): boolean {
  return session_id !== null && !NO_JOBS.includes(event);
}

function issuesOf(jobs: readonly Job[]): IssueFacts[] {
  const byUrl = new Map<string, Job[]>();
  for (const job of jobs.flatMap(byFault)) if (job.issue !== null) putInto(byUrl, job.issue, job);
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
  const evidence = story.evidence.length === 0 ? {} : { evidence: story.evidence.join('; ') };
  return {
    event: story.event,
    at: isoTime(story.detected_at),
    reason: story.reason,
    is_over: story.closed_at !== null,
    details: { ...Object.fromEntries(scalars.map(([name, value]) => [name, String(value)])), ...evidence },
    excerpt: story.excerpt,
  };
}
