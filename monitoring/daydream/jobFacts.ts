/** A job as the review sees it: one message, over its attempts. */
import type { IncidentRule } from '../../src/config/rules.js';
import { type CriticalEvent, INCIDENT_OUTCOMES } from '../../src/jobs/incidents.js';
import { isoTime } from '../../src/time.js';
import type { IncidentStory } from './incidentStory.js';

/** A job's state at the end of the day, the worst first. `passed`: the rule was no longer true, nothing was done. */
export const JOB_ENDS = [
  'failed_again',
  'not_revived',
  'open',
  'recovered',
  'answered',
  'passed',
  'cancelled',
  'closed',
] as const;
export type JobEnd = (typeof JOB_ENDS)[number];

/** One message: its session, its revival, and every incident of the two. Programs rely on this shape. */
export interface JobFacts {
  readonly project: string;
  /** The first attempt. */
  readonly session_id: string;
  /** The last one, if several rules were true. */
  readonly rule: IncidentRule | null;
  readonly reason: string | null;
  readonly end: JobEnd;
  readonly detected_at: string;
  /** From the first detection until the revival answered; null if it did not recover. */
  readonly recovered_after_ms: number | null;
  readonly revived: boolean;
  /** `failure_message_sent`, `…_unknown`, `…_given_up`; null if the chat was not notified. */
  readonly told: string | null;
  readonly not_revived_because: string | null;
  readonly issue: string | null;
  readonly incidents: number;
  /** The beginning of the message. Untrusted text; null in events of earlier versions. */
  readonly asked: string | null;
  /** Such as `claude 2.1.150`; null in events of earlier versions. */
  readonly agent: string | null;
  /** Untrusted text. */
  readonly evidence: readonly string[];
  /** Untrusted text. */
  readonly excerpts: readonly string[];
}

/** A job as the page describes it, or one of its faults (`byFault`). */
export interface Job extends JobFacts {
  /** In the order of their detection; at least one. */
  readonly stories: readonly IncidentStory[];
  /** The rule of the job's last fault, if this is an earlier one; null if it is the job itself, or its last fault. */
  readonly later: IncidentRule | 'unknown' | null;
}

/** At least one job, each once, in the order of their detection; all of one project and one rule. */
export type Trouble = readonly [Job, ...Job[]];

/** @returns the job without the fields that only the page needs */
export function jobFacts({ stories: _stories, later: _later, ...facts }: Job): JobFacts {
  return facts;
}

/** @returns the jobs in the order of their first incident: a revival is the same job as its first attempt */
export function jobsOf(stories: readonly IncidentStory[]): Job[] {
  const firstAttempts = new Map(stories.map((story) => [story.revival_session_id, story.last.session_id]));
  const inOrder = stories.toSorted((a, b) => a.detected_at - b.detected_at);
  const jobIdOf = ({ last: { session_id: id } }: IncidentStory) => firstAttempts.get(id) ?? id ?? '';
  return grouped(inOrder, jobIdOf).map(jobOf);
}

/** A job whose chat was notified is over, even if an unreachable GitHub keeps its incident open for days. */
function jobOf(stories: readonly [IncidentStory, ...IncidentStory[]]): Job {
  const [first] = stories;
  const story = stories.at(-1) ?? first;
  const { last, closed_at, told, not_revived_because, evidence } = story;
  const revived = stories.some((each) => each.revived);
  const isOpen = told === null && stories.some((each) => each.closed_at === null);
  const end = isOpen ? 'open' : endOf(last, revived);
  return {
    project: last.project_key ?? '',
    session_id: first.last.session_id ?? '',
    rule: last.rule,
    reason: last.reason,
    end,
    detected_at: isoTime(first.detected_at),
    recovered_after_ms: end === 'recovered' && closed_at !== null ? closed_at - first.detected_at : null,
    revived,
    told,
    not_revived_because,
    issue: stories.findLast(({ github_issue }) => github_issue !== null)?.github_issue ?? null,
    incidents: stories.length,
    asked: first.asked,
    agent: stories.findLast(({ agent }) => agent !== null)?.agent ?? null,
    evidence,
    excerpts: stories.flatMap(({ excerpt }) => excerpt ?? []),
    stories,
    later: null,
  };
}

/** @param last the last line of its last incident */
function endOf({ event, details }: CriticalEvent, revived: boolean): JobEnd {
  if (event === 'session_recovered') return revived ? 'recovered' : 'passed';
  if (event === 'session_unrecoverable') return revived || details?.attempt === 2 ? 'failed_again' : 'not_revived';
  const outcome = INCIDENT_OUTCOMES.find((each) => each === details?.outcome);
  if (outcome === 'answered') return 'answered';
  if (outcome === 'cancelled_by_person') return 'cancelled';
  return outcome === 'revival_failed' ? 'failed_again' : 'closed';
}

export function needsAPerson({ end }: JobFacts): boolean {
  return end === 'failed_again' || end === 'not_revived';
}

/** @returns the job once for each rule: a second attempt may fail by another rule, and both faults need a look */
export function byFault(job: Job): Job[] {
  return grouped(job.stories, ({ last }) => String(last.rule)).map((found) => {
    const { rule, reason, detected_at, issue, incidents, revived, stories } = jobOf(found);
    const fault = { ...job, detected_at, incidents, stories };
    if (rule === job.rule) return { ...fault, issue: issue ?? job.issue };
    return { ...fault, rule, reason, revived, issue, later: job.rule ?? 'unknown' };
  });
}

/** @returns those with most jobs that need a person first, then those that still last, then the largest */
export function troublesAmong(jobs: readonly Job[]): Trouble[] {
  const needing = (trouble: Trouble) => trouble.filter(needsAPerson).length;
  const open = (trouble: Trouble) => trouble.filter(({ end }) => end === 'open').length;
  return grouped(jobs, ({ project, rule }) => JSON.stringify([project, rule])).sort(
    (a, b) =>
      needing(b) - needing(a) || open(b) - open(a) || b.length - a.length || a[0].project.localeCompare(b[0].project),
  );
}

/** @returns the items by their key, in the order of the keys' first occurrence */
export function grouped<Item>(items: Iterable<Item>, keyOf: (item: Item) => string): [Item, ...Item[]][] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}
