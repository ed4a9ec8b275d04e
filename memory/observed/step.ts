/** The step of the agent's own list that it works on, for people. Nothing is decided by it. */
import { openPlainFile, READ_NO_LINK } from '../../src/files/plainFile.js';
import { readFromEnd } from '../../src/files/readAt.js';
import { type JournalRecord, parseRecord, textOf } from '../../src/journal/record.js';
import { type ObservedEvent, PLAN_STATUSES, type PlanItem } from '../../src/journal/schema.js';
import { oneLine } from '../../src/log/visibleText.js';
import type { Worklog } from '../fold/worklog.js';
import type { StepStatus } from '../words.js';
import type { Observed } from './observed.js';
import { isNameless } from './todos.js';

export interface Step {
  /** Its place in the list, from 1. */
  readonly number: number;
  /** Tasks in the list. */
  readonly of: number;
  readonly title: string;
}

/** A step of the plan, or a task of the agent's own list. */
export interface StepLike {
  readonly id: string;
  readonly status: StepStatus;
  readonly title: string;
  readonly reason?: string | null;
}

interface Task {
  readonly title: string;
  readonly status: StepStatus;
  /** The id in the program's list; missing or null if it has none. */
  readonly external_id?: string | null;
}

export type Plan = Extract<ObservedEvent, { event: 'plan' }> & { readonly agent_id?: string };

const MOST_TASKS = 200;
/** Never reads more of a journal. */
const READ_BYTES = { first: 64 * 1024, most: 4 * 1024 * 1024 };

/** @returns the steps of the plan; without a plan, the tasks of the agent's own list */
export function stepsOf({
  log,
  fold,
}: {
  readonly log: Pick<Worklog, 'steps'>;
  readonly fold: Pick<Observed, 'todos'> | null;
}): readonly StepLike[] {
  const plan = [...log.steps.values()];
  return plan.length > 0 ? plan : (fold?.todos.list ?? []);
}

/** @returns `step 2 of 5`, without words of the agent */
export function stepPlace({ number, of }: Step): string {
  return `step ${number} of ${of}`;
}

/** @returns `step 2 of 5: Write the tests`, without line breaks */
export function stepWords(step: Step): string {
  return `${stepPlace(step)}: ${oneLine(step.title)}`;
}

/** @returns the list after this change */
export function withPlan(tasks: readonly PlanItem[], plan: Plan): readonly PlanItem[] {
  if (!isOfSession(plan)) return tasks;
  if (plan.mode === 'replace') return plan.items.slice(0, MOST_TASKS);
  const list = [...tasks];
  for (const item of plan.items.slice(0, MOST_TASKS)) {
    const at = list.findIndex((task) => isSame(task, item));
    const known = list[at];
    if (known !== undefined) list[at] = isNameless(item) ? { ...item, title: known.title } : item;
    else if (list.length < MOST_TASKS) list.push(item);
  }
  return list;
}

/** A whole list without ids is its agent's own: a sub-agent's is about its part of the work. */
function isOfSession({ agent_id, mode, items }: Plan): boolean {
  return agent_id === undefined || mode === 'merge' || items.some(({ external_id }) => external_id !== undefined);
}

function isSame(task: PlanItem, item: PlanItem): boolean {
  if (item.external_id === undefined || task.external_id === undefined) return task.title === item.title;
  return task.external_id === item.external_id;
}

/**
 * @returns the task in progress, else the first open one; null if every one is settled, and if the list was begun in an earlier run
 *   of the conversation: then neither its length nor the title of such a task is known
 */
export function stepOf(tasks: readonly Task[]): Step | null {
  if (tasks.some(isNameless)) return null;
  const counted = tasks.filter(({ status }) => status !== 'cancelled');
  const step =
    counted.find(({ status }) => status === 'in_progress') ??
    counted.find(({ status }) => status === 'pending' || status === 'failed');
  return step === undefined ? null : { number: counted.indexOf(step) + 1, of: counted.length, title: step.title };
}

/**
 * @param path a session's journal
 * @returns the step at its end; null if there is none, if its end is too long after the plan, and if it cannot be read
 */
export async function readStep(path: string): Promise<Step | null> {
  const file = await openPlainFile(path, READ_NO_LINK).catch(() => null);
  if (file === null) return null;
  try {
    const found = readFromEnd(file.fd, READ_BYTES, (end, { isWhole }) => {
      const plans = plansIn(end.toString('utf8'));
      const from = plans.findLastIndex((plan) => plan.mode === 'replace' && isOfSession(plan));
      // Changes of single tasks say nothing without those before them.
      if (from === -1 && !isWhole) return null;
      return { step: stepOf(plans.slice(Math.max(from, 0)).reduce<readonly PlanItem[]>(withPlan, [])) };
    });
    return found?.step ?? null;
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

function plansIn(text: string): Plan[] {
  return text.split('\n').flatMap((line) => {
    const record = line.includes('"plan"') ? parseRecord(line) : null;
    return record?.event === 'plan' ? [planOf(record)] : [];
  });
}

function planOf(record: JournalRecord): Plan {
  const agent = textOf(record.agent_id);
  const items = Array.isArray(record.items) ? record.items.flatMap(itemOf) : [];
  const mode = record.mode === 'replace' ? 'replace' : 'merge';
  return { event: 'plan', mode, items, ...(agent !== null && { agent_id: agent }) };
}

function itemOf(value: unknown): PlanItem[] {
  const { external_id, title, status } = Object(value);
  const known = PLAN_STATUSES.find((word) => word === status);
  if (typeof title !== 'string' || known === undefined) return [];
  return [{ title, status: known, ...(typeof external_id === 'string' && { external_id }) }];
}
