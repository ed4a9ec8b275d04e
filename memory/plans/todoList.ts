/** Merges a list of tasks that an agent keeps, TodoWrite's or the Task tools', into the steps of a plan. */
import * as z from 'zod';
import { UsageError } from '../../src/errors.js';
import { parseJson } from '../../src/json.js';
import type { Redact } from '../../src/log/redact.js';
import { headOf } from '../../src/log/shorten.js';
import type { Holder } from '../fold/holder.js';
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import { MOVES } from '../fold/rules/steps.js';
import type { Step, Worklog } from '../fold/worklog.js';
import { LONGEST_TEXT } from '../logs/line.js';
import { PRIORITIES, type Priority, STEP_STATUSES, type StepStatus } from '../words.js';
import { freeStepId } from './addedSteps.js';

export interface TodoItem {
  readonly id: string | null;
  readonly title: string;
  readonly status: StepStatus;
  readonly priority: Priority | null;
}

type PlanLine = WorklogLine<'step_added' | 'step'>;

export interface Merge {
  readonly lines: readonly PlanLine[];
  /** Steps that no legal move brings to the status in the list, each with the reason. */
  readonly stuck: readonly string[];
}

const text = z.string().trim().min(1);
const itemSchema = z
  .looseObject({
    id: z.union([text, z.number()]).optional(),
    content: text.optional(),
    subject: text.optional(),
    title: text.optional(),
    status: z.string().default('pending'),
    priority: z.string().optional(),
  })
  .refine(
    ({ content, subject, title }) => (content ?? subject ?? title) !== undefined,
    'it has no "content" or "subject"',
  );
const list = z.array(itemSchema);
const listSchema = z.union([
  list,
  z.object({ todos: list }).transform(({ todos }) => todos),
  z.object({ tasks: list }).transform(({ tasks }) => tasks),
]);
/** The words of other programs. */
const STATUSES: ReadonlyMap<string, StepStatus> = new Map([
  ...STEP_STATUSES.map((status) => [status, status] as const),
  ['done', 'completed'],
  ['deleted', 'cancelled'],
  ['canceled', 'cancelled'],
]);
/** Other programs know five priorities or none. */
const OTHER_PRIORITIES: ReadonlyMap<string, Priority> = new Map([
  ...PRIORITIES.map((priority) => [priority, priority] as const),
  ['medium', 'normal'],
  ['low', 'normal'],
]);

/**
 * @param json a list of items, or an object with `todos` or `tasks`
 * @param redact a log keeps no other words than these, and the next list must find the steps of this one
 * @throws UsageError if it is no such list
 */
export function readTodoList(json: string, redact: Redact): TodoItem[] {
  const parsed = listSchema.safeParse(parseJson(json));
  if (!parsed.success)
    throw new UsageError(
      'this is no list of tasks: a JSON array of {"id", "content", "status", "priority"} is expected',
    );
  const kept = (words: string): string => headOf(words, LONGEST_TEXT, redact);
  return parsed.data.map(({ id, content, subject, title, status, priority }) => ({
    id: id === undefined ? null : kept(String(id)),
    title: kept(content ?? subject ?? title ?? ''),
    status: STATUSES.get(status) ?? unknownStatus(status),
    priority: OTHER_PRIORITIES.get(priority ?? '') ?? null,
  }));
}

/**
 * @param holder the agent whose list it is, which then has what it starts. Null for a person
 * @returns the lines that bring the plan to where the list is; steps that the list does not name stay as they are
 */
export function mergeTodoList(log: Worklog, items: readonly TodoItem[], holder: Holder | null = null): Merge {
  const lines: PlanLine[] = [];
  const stuck: string[] = [];
  const matched = new Set<string>();
  let added = 0;
  for (const item of items) {
    const step = matchOf(log, item, matched);
    const id = step?.id ?? freeStepId(log, added);
    if (step === null) added += 1;
    matched.add(id);
    if (step === null) {
      const { title, priority, id: external } = item;
      lines.push(
        worklogKind.line('step_added', {
          step: id,
          title,
          priority: priority ?? undefined,
          external_id: external ?? undefined,
        }),
      );
    }
    const from = step?.status ?? 'pending';
    const way = wayBetween(from, item.status);
    if (way === null) stuck.push(`step ${id} is ${from} and cannot become ${item.status}: ${item.title}`);
    const reworded = step !== null && step.title !== item.title ? item.title : undefined;
    if (reworded !== undefined) lines.push(worklogKind.line('step', { step: id, to: from, title: reworded }));
    for (const to of way ?? [])
      lines.push(
        worklogKind.line('step', {
          ...{ step: id, to },
          ...(to === 'failed' && { reason: 'said by the list' }),
          ...(to === 'in_progress' && holder !== null && { holder }),
        }),
      );
  }
  return { lines, stuck };
}

/** By the id that the other program gave it, by the step's own id, then by title among the open ones. */
function matchOf(log: Worklog, { id, title }: TodoItem, matched: ReadonlySet<string>): Step | null {
  const free = [...log.steps.values()].filter((step) => !matched.has(step.id));
  const isOpen = ({ status }: Step) => MOVES[status].length > 0;
  return (
    free.find((step) => id !== null && step.external_id === id) ??
    free.find((step) => id !== null && step.external_id === null && step.id === id) ??
    free.find((step) => step.title === title && isOpen(step)) ??
    free.find((step) => step.title === title && id === null) ??
    null
  );
}

/** @returns the moves from one status to another; null if no legal moves lead there */
function wayBetween(from: StepStatus, to: StepStatus): StepStatus[] | null {
  if (from === to) return [];
  if (MOVES[from].includes(to)) return [to];
  return MOVES[from].includes('in_progress') && MOVES.in_progress.includes(to) ? ['in_progress', to] : null;
}

function unknownStatus(status: string): never {
  throw new UsageError(`${JSON.stringify(status)} is no status of a task; one of ${STEP_STATUSES.join(', ')}`);
}
