/** The state of a session as `state.json` and `--json` show it. It contains no `now`. */
import { LOG_VERSION } from '../logs/line.js';
import type { StepStatus } from '../words.js';
import type { FileEntry, Step, Tokens, Worklog } from './worklog.js';

const SETTLED: readonly StepStatus[] = ['completed', 'skipped', 'cancelled'];

export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly pending: number;
  /** The step in progress; the first one if there are several. */
  readonly current: string | null;
}

/** @returns progress through steps; skipped and cancelled ones are done with, and do not count as done */
export function progressOf(steps: readonly { readonly id: string; readonly status: StepStatus }[]): Progress {
  return {
    done: steps.filter(({ status }) => status === 'completed').length,
    total: steps.length,
    pending: getPendingTodoCount(steps),
    current: steps.find(({ status }) => status === 'in_progress')?.id ?? null,
  };
}

/** @returns the first step in progress, else the first that failed or is pending, else the last one. Null if there is none */
export function currentPhase<S extends { readonly status: StepStatus }>(steps: readonly S[]): S | null {
  const first = (...statuses: readonly StepStatus[]) => steps.find(({ status }) => statuses.includes(status));
  return first('in_progress') ?? first('failed', 'pending') ?? steps.at(-1) ?? null;
}

/** @returns the number of steps that are neither completed nor skipped nor cancelled */
export function getPendingTodoCount(steps: readonly { readonly status: StepStatus }[]): number {
  return unsettledOf(steps).length;
}

/** @returns the steps that are neither completed nor skipped nor cancelled */
export function unsettledOf<S extends { readonly status: StepStatus }>(steps: readonly S[]): S[] {
  return steps.filter(({ status }) => !SETTLED.includes(status));
}

/** The declared side of a session, as it is written to `state.json`. */
export type DeclaredState = ReturnType<typeof stateOf>;

export function stateOf(log: Worklog, at: number) {
  const steps = [...log.steps.values()];
  const { facts } = log;
  return {
    v: LOG_VERSION,
    session_id: log.session_id,
    purpose: facts?.purpose ?? '',
    name: facts?.name ?? null,
    lifecycle: log.lifecycle,
    end: log.end,
    archived: log.archived !== null,
    workspace: facts?.workspace ?? null,
    parent: facts?.parent ?? null,
    continues: facts?.continues ?? null,
    explicit: facts?.explicit ?? false,
    concurrent: facts?.concurrent ?? false,
    baseline: facts?.baseline ?? null,
    ...facts?.set,
    created_at: log.created_at,
    ended_at: log.end?.at ?? null,
    last_activity: log.last_activity,
    idle_at: null,
    resumed_at: log.resumed_at,
    acknowledged_at: log.acknowledged_at,
    violations: { blocked: 0, rejected: 0, refused: log.refused },
    conversations: log.conversations,
    runs: log.runs,
    steps: steps.map(shownStep),
    progress: progressOf(steps),
    notes: log.notes,
    entries: log.log,
    errors: log.errors,
    files: filesOf(log),
    tokens: { total: sumOf(log.tokens), by_agent: Object.fromEntries(log.tokens) },
    children: [...log.children.values()],
    checkpoints: [...log.checkpoints.values()],
    notices: log.notices,
    at,
    more: log.more,
  };
}

/** @returns the declared files, each with what it held when the session was kept */
export function filesOf({ files, digests }: Worklog): Record<string, FileEntry & { readonly digest: string | null }> {
  return Object.fromEntries([...files].map(([path, file]) => [path, { ...file, digest: digests.get(path) ?? null }]));
}

/** Without the parts that only the rules and the attribution of changes need. */
function shownStep(step: Step) {
  // Member by member, as a new step is made.
  return {
    id: step.id,
    external_id: step.external_id,
    title: step.title,
    priority: step.priority,
    blocked_by: step.blocked_by,
    agents: step.agents,
    parallel: step.parallel,
    planned_files: step.planned_files,
    status: step.status,
    retries: step.retries,
    agent: step.agent,
    holder: step.holder,
    call: step.call,
    started_at: step.started_at,
    ended_at: step.ended_at,
    reason: step.reason,
    assumed: step.assumed,
    output: step.output,
    validation: step.validation,
    context: step.context,
    no_context_reason: step.no_context_reason,
    files: step.files,
    tokens: step.tokens,
    kind: 'plan',
  } as const satisfies Omit<Step, 'spans' | 'held_by'> & { readonly kind: 'plan' };
}

export function sumOf(tokens: ReadonlyMap<string, Tokens>): Tokens {
  const total = { input: 0, output: 0, cached: 0 };
  for (const { input, output, cached } of tokens.values()) {
    total.input += input;
    total.output += output;
    total.cached += cached;
  }
  return total;
}

/** In the place of a purpose. */
export const LOST_BEGINNING = '(the beginning of its record cannot be read)';
