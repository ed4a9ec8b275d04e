/** The jobs of a day by project and rule: two hundred jobs are a dozen troubles, and a page has room for a dozen. */
import { type Job, needsAPerson, putInto } from './jobFacts.js';

/** At least one job, each once, in the order of their detection; all of one project and one rule. */
export type Trouble = readonly Job[];

/** @returns the troubles, those with most jobs that need a person first, then those that still last, then the largest */
export function troublesAmong(jobs: readonly Job[]): Trouble[] {
  const groups = new Map<string, Job[]>();
  for (const job of jobs) putInto(groups, JSON.stringify([job.project, job.rule]), job);
  return [...groups.values()].sort(
    (a, b) =>
      needing(b) - needing(a) || open(b) - open(a) || b.length - a.length || projectOf(a).localeCompare(projectOf(b)),
  );
}

export function projectOf(trouble: Trouble): string {
  return trouble[0]?.project ?? '';
}

/** @returns the addresses of its issues, each once */
export function issuesOf(trouble: Trouble): string[] {
  return [...new Set(trouble.flatMap(({ issue }) => (issue === null ? [] : [issue])))];
}

function needing(trouble: Trouble): number {
  return trouble.filter(needsAPerson).length;
}

function open(trouble: Trouble): number {
  return trouble.filter(({ end }) => end === 'open').length;
}
