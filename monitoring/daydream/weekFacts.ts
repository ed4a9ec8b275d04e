/** What the seven days before a day say about it. */
import type { IncidentRule } from '../../src/config/rules.js';
import { DAY } from '../../src/time.js';
import type { DayZone } from './dayZone.js';
import type { IncidentStory } from './incidentStory.js';
import { type JobFacts, needsAPerson } from './jobFacts.js';

export const WEEK_MS = 7 * DAY;

/** Counts jobs: a revival that fails like its first attempt is no repetition. */
export interface RepeatFacts {
  readonly project: string;
  readonly rule: IncidentRule;
  readonly today: number;
  /** In the seven days before. */
  readonly week_before: number;
  /** How many of these eight days had one. */
  readonly days: number;
}

/** The jobs that got into trouble in the seven days before. */
export interface WeekFacts {
  readonly jobs: number;
  readonly needed_a_person: number;
  /** When the last one was noticed; null if there was none. */
  readonly last_at: string | null;
}

/**
 * @param begin of the day, epoch milliseconds
 * @returns the faults of more than one job of a project in eight days, with at least one on the last of them
 */
export function repeatsAmong(jobs: readonly (readonly IncidentStory[])[], begin: number, zone: DayZone): RepeatFacts[] {
  const groups = new Map<string, { project: string; rule: IncidentRule; times: number[] }>();
  for (const { project_key: project, rule, detected_at } of jobs.flatMap(firstOfEachRule)) {
    if (detected_at < begin - WEEK_MS) continue;
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
      days: new Set(times.map((at) => zone.dayOf(at))).size,
    }))
    .filter(({ today, week_before }) => today > 0 && today + week_before > 1)
    .sort((a, b) => b.days - a.days || b.today + b.week_before - (a.today + a.week_before));
}

function firstOfEachRule(incidents: readonly IncidentStory[]): IncidentStory[] {
  return incidents.filter(({ rule }, index) => incidents.findIndex((other) => other.rule === rule) === index);
}

/** @param begin of the day, epoch milliseconds */
export function weekBefore(jobs: readonly JobFacts[], begin: number): WeekFacts {
  const found = jobs.filter(({ detected_at }) => {
    const at = Date.parse(detected_at);
    return at >= begin - WEEK_MS && at < begin;
  });
  return {
    jobs: found.length,
    needed_a_person: found.filter(needsAPerson).length,
    last_at: found.at(-1)?.detected_at ?? null,
  };
}
