/** What a run is doing now, for the progress message, `/status` and the lease. Kept in memory only. */
import { subjectOf } from '../../src/journal/agentVocabulary.js';
import type { JournalEvent, PlanItem } from '../../src/journal/schema.js';
import type { Redact } from '../../src/log/redact.js';
import { headOf, shorten } from '../../src/log/shorten.js';
import type { AgentEvent } from '../agents/program/contract.js';
import type { Activity, Step } from '../chat/progressView.js';

/** The mutable form of an activity; all instants in epoch milliseconds. */
export type LiveActivity = { -readonly [Name in keyof Activity]: Activity[Name] } & {
  lastEventAt: number;
  lastCallAt: number | null;
  /** The agent's own list, as it is now. */
  tasks: readonly PlanItem[];
};
type Plan = Extract<JournalEvent, { event: 'plan' }>;

const LONGEST_WORDS = 120;
const MOST_TASKS = 200;
/** Most of a text may be white space. */
const LONGEST_READ = 2_000;

/** @param now epoch milliseconds, as everywhere in this file */
export function startActivity(now: number): LiveActivity {
  return {
    startedAt: now,
    lastEventAt: now,
    calls: 0,
    lastCallAt: null,
    tool: null,
    note: null,
    step: null,
    tasks: [],
  };
}

/** @param redact applied before anything is cut, because half of a secret is not recognised any more */
export function noteActivity(activity: LiveActivity, event: AgentEvent, now: number, redact: Redact): void {
  activity.lastEventAt = now;
  if (event.type === 'note') activity.note = oneLine(event.text, redact);
  if (event.type !== 'journal') return;
  const line = event.line;
  if (line.event === 'pre_tool_use') {
    activity.calls += 1;
    activity.lastCallAt = now;
    const subject = subjectOf(line.tool_input);
    activity.tool = oneLine(subject === null ? line.tool_name : `${line.tool_name}: ${subject}`, redact);
    activity.startedAt = now;
  }
  if (line.event === 'post_tool_use') {
    activity.tool = null;
    activity.startedAt = now;
  }
  if (line.event === 'plan' && isOfSession(line)) {
    activity.tasks = planned(activity.tasks, line);
    activity.step = stepOf(activity.tasks, redact);
  }
}

/** A whole list without ids is its agent's own: a sub-agent's is about its part of the work. */
function isOfSession({ agent_id, mode, items }: Plan): boolean {
  return agent_id === undefined || mode === 'merge' || items.some(({ external_id }) => external_id !== undefined);
}

/** @returns the list after this change */
function planned(tasks: readonly PlanItem[], { mode, items }: Plan): readonly PlanItem[] {
  if (mode === 'replace') return items.slice(0, MOST_TASKS);
  const list = [...tasks];
  for (const item of items.slice(0, MOST_TASKS)) {
    const at = list.findIndex((task) => isSame(task, item));
    if (at >= 0) list[at] = item;
    else if (list.length < MOST_TASKS) list.push(item);
  }
  return list;
}

function isSame(task: PlanItem, item: PlanItem): boolean {
  if (item.external_id === undefined || task.external_id === undefined) return task.title === item.title;
  return task.external_id === item.external_id;
}

/** The first open task if the program does not say which one is in progress. */
function stepOf(tasks: readonly PlanItem[], redact: Redact): Step | null {
  const counted = tasks.filter(({ status }) => status !== 'cancelled');
  const step =
    counted.find(({ status }) => status === 'in_progress') ??
    counted.find(({ status }) => status === 'pending' || status === 'failed');
  if (step === undefined) return null;
  return { number: counted.indexOf(step) + 1, of: counted.length, title: oneLine(step.title, redact) };
}

function oneLine(text: string, redact: Redact): string {
  return shorten(headOf(text, LONGEST_READ, redact).replace(/\s+/g, ' ').trim(), LONGEST_WORDS);
}
