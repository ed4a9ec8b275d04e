/** The present activity of a run, for the progress message, `/status` and the lease. Kept in memory only. */
import { stepOf, withPlan } from '../../memory/observed/step.js';
import { subjectOf } from '../../src/journal/agentVocabulary.js';
import type { JournalEvent, PlanItem } from '../../src/journal/schema.js';
import type { Redact } from '../../src/log/redact.js';
import { headOf, shorten } from '../../src/log/shorten.js';
import type { Clock } from '../../src/time.js';
import type { AgentEvent } from '../agents/program/contract.js';
import type { Activity } from '../chat/progressView.js';

/** The mutable form of an activity; `lastEventAt` and `lastCallAt` in epoch milliseconds. */
export type LiveActivity = { -readonly [Name in keyof Activity]: Activity[Name] } & {
  lastEventAt: number;
  lastCallAt: number | null;
  /** The agent's own list, as it is now. */
  tasks: readonly PlanItem[];
};

type BothClocks = Pick<Clock, 'now' | 'monotonic'>;

const LONGEST_WORDS = 120;
/** Most of a text may be white space. */
const LONGEST_READ = 2_000;

export function startActivity(clock: BothClocks): LiveActivity {
  return {
    startedAt: clock.monotonic(),
    quietSince: null,
    lastEventAt: clock.now(),
    calls: 0,
    lastCallAt: null,
    tool: null,
    note: null,
    step: null,
    tasks: [],
  };
}

/** @param redact applied before anything is cut, because half of a secret is not recognised any more */
export function noteActivity(activity: LiveActivity, event: AgentEvent, clock: BothClocks, redact: Redact): void {
  activity.lastEventAt = clock.now();
  if (event.type === 'note') activity.note = oneLine(event.text, redact);
  if (event.type !== 'journal') return;
  const line = event.line;
  if (line.event === 'pre_tool_use') {
    activity.calls += 1;
    activity.lastCallAt = clock.now();
    const subject = subjectOf(line.tool_input);
    activity.tool = oneLine(subject === null ? line.tool_name : `${line.tool_name}: ${subject}`, redact);
    activity.startedAt = clock.monotonic();
    activity.isRefused = false;
  }
  if (line.event === 'wait_start' || line.event === 'wait_end') noteRefusal(activity, line, clock);
  if (line.event === 'post_tool_use') {
    activity.tool = null;
    activity.startedAt = clock.monotonic();
  }
  if (line.event === 'plan') {
    activity.tasks = withPlan(activity.tasks, line);
    const step = stepOf(activity.tasks);
    activity.step = step === null ? null : { ...step, title: oneLine(step.title, redact) };
  }
}

/** Retries follow each other: the first one began the wait. That of a sub-agent says nothing about the others. */
function noteRefusal(
  activity: LiveActivity,
  { event, kind, agent_id }: Extract<JournalEvent, { event: 'wait_start' | 'wait_end' }>,
  clock: BothClocks,
): void {
  const isRefused = event === 'wait_start';
  if (kind !== 'rate_limit' || agent_id !== undefined || isRefused === (activity.isRefused ?? false)) return;
  activity.isRefused = isRefused;
  if (activity.tool === null) activity.startedAt = clock.monotonic();
}

function oneLine(text: string, redact: Redact): string {
  return shorten(headOf(text, LONGEST_READ, redact).replace(/\s+/g, ' ').trim(), LONGEST_WORDS);
}
