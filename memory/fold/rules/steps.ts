/** The steps of a plan: what may move where, and who may move it. */
import * as z from 'zod/mini';
import type { Refusal } from '../../logs/kind.js';
import { PRIORITIES, STEP_STATUSES, type StepStatus, statusWords } from '../../words.js';
import { MOST_ENTRIES, MOST_FILES, MOST_PLAN_STEPS } from '../bounds.js';
import { type Held, holderWords, isFreeFor, isSameAgent } from '../holder.js';
import { newStep } from '../newStep.js';
import type { Step, Worklog } from '../worklog.js';
import { keepFile } from './files.js';
import { type Found, rule, type Written } from './rule.js';
import { processSchema } from './runs.js';
import { PENDING } from './work.js';

/** The nine legal moves. */
export const MOVES: Readonly<Record<StepStatus, readonly StepStatus[]>> = {
  pending: ['in_progress', 'skipped', 'cancelled'],
  in_progress: ['completed', 'failed', 'cancelled'],
  failed: ['in_progress', 'skipped', 'cancelled'],
  completed: [],
  skipped: [],
  cancelled: [],
};
/** Retries of a failed step. After them, a person decides. */
const MOST_RETRIES = 2;

const text = z.optional(z.string());
const filled = z.string().check(z.minLength(1));
const texts = z.array(z.string());
const list = z._default(texts, []);
const addedFields = () => ({
  step: filled,
  title: filled,
  external_id: z._default(z.nullable(z.string()), null),
  priority: z.optional(z.enum(PRIORITIES)),
  blocked_by: list,
  agents: list,
  parallel: z._default(z.boolean(), false),
  planned_files: list,
});

const moveFields = () => ({
  step: filled,
  to: z.enum(STEP_STATUSES),
  reason: text,
  /** Another wording. */
  title: z.optional(filled),
  agent: text,
  /** The agent that starts it. A person is none. */
  holder: z.optional(
    z.union([
      z.object({
        conversation: z.object({ provider: filled, conversation: filled }),
        process: z.optional(processSchema),
      }),
      z.object({ process: processSchema }),
    ]),
  ),
  /** The id of the line that gave it to its present holder, which is proven dead: the start takes it over. */
  takes: text,
  /** The id of the call: a transcript names the sub-agent of that call. */
  call: text,
  files: z.optional(z.object({ created: list, modified: list, deleted: list })),
  /** Files of the step: they are worked on while it is in progress, and done with it. */
  paths: list,
  context: z.optional(z.record(z.string(), texts)),
  no_context_reason: text,
  output: text,
  validation: z.optional(z.object({ passed: z.boolean(), details: text })),
  /** Set at the end of the session: whether the step is done was not checked. */
  assumed: z.optional(z.boolean()),
  /** A person's reason for a third retry. */
  override: text,
  decided_by: text,
});
type Move = Found<ReturnType<typeof moveFields>>;

export const stepRules = {
  step_added: rule(addedFields, addStep),
  step: rule(moveFields, moveStep, { starts: true }),
};

function addStep(log: Worklog, added: Found<ReturnType<typeof addedFields>>): Refusal | null {
  const { step: id, external_id, title, priority, blocked_by, agents, parallel, planned_files } = added;
  if (log.steps.has(id)) return { code: 'duplicate_step', message: `there is a step ${id} already` };
  if (log.steps.size >= MOST_PLAN_STEPS)
    return { code: 'too_many_steps', message: `a session has at most ${MOST_PLAN_STEPS} steps` };
  const unknown = blocked_by.find((other) => !log.steps.has(other));
  if (unknown !== undefined)
    return { code: 'unknown_blocker', message: `step ${id} waits for ${unknown}, and there is no such step before it` };
  log.steps.set(id, newStep({ id, external_id, title, priority, blocked_by, agents, parallel, planned_files }));
  return null;
}

function moveStep(log: Worklog, move: Move, written: Written): Refusal | null {
  const step = log.steps.get(move.step);
  if (step === undefined) {
    const isTask = /^t\d+$/.test(move.step);
    const why = isTask
      ? `${move.step} is a task of the agent's own list, which only the agent can change; add a step of the session with: watchkeeper track step --add TITLE`
      : `there is no step ${move.step}`;
    return { code: 'unknown_step', message: why };
  }
  const isRepeated = step.status === move.to;
  const refused = isRepeated ? refuseRepeat(step, move) : refuseMove(log, step, move, written);
  if (refused !== null) return refused;
  if (!isRepeated) enter(log, step, move, written.at);
  if (isRepeated ? isHandedOver(step, move) : move.to === 'in_progress') hold(step, move, written);
  record(step, move);
  for (const path of move.paths)
    keepFile(log, path, { status: move.to === 'in_progress' ? 'working' : 'done', step: step.id, at: written.at });
  return null;
}

/** Whether another agent starts a step in progress. Another wording starts nothing: it may come from any agent. */
function isHandedOver(step: Step, move: Move): boolean {
  return step.status === 'in_progress' && move.title === undefined && !isSameAgent(step, heldAfter(move));
}

function heldAfter({ holder, agent }: Move): Held {
  return { holder: holder ?? null, agent: agent ?? null };
}

/** Repeating a move is a no-op, unless another agent holds the step. Whether that one lives is known to the writer alone. */
function refuseRepeat(step: Step, move: Move): Refusal | null {
  if (!isHandedOver(step, move)) return null;
  const mayTake = move.takes === undefined ? isFreeFor(step, heldAfter(move)) : move.takes === step.held_by;
  if (mayTake) return null;
  return { code: 'taken', message: `step ${step.id} is in progress already: ${holderWords(step)} has it` };
}

function refuseMove(log: Worklog, step: Step, move: Move, written: Written): Refusal | null {
  const legal = MOVES[step.status];
  const { to, reason } = move;
  if (!legal.includes(to)) {
    const ways = legal.length === 0 ? 'that is final' : `it can become ${alternatives(legal.map(statusWords))}`;
    return {
      code: 'illegal_move',
      message: `step ${step.id} is ${statusWords(step.status)} and cannot become ${statusWords(to)}: ${ways}`,
    };
  }
  if (to === 'failed' && reason === undefined)
    return { code: 'reason_missing', message: `why did step ${step.id} fail? Give the reason` };
  if (to === 'skipped' && !isDecidedByPerson(move, written))
    return { code: 'person_needed', message: `only a person may skip a step: ask one about step ${step.id}` };
  return to === 'in_progress' ? refuseStart(log, step, move, written) : null;
}

function alternatives(ways: readonly string[]): string {
  return [ways.slice(0, -1).join(', '), ...ways.slice(-1)].filter(Boolean).join(' or ');
}

function refuseStart(log: Worklog, step: Step, move: Move, written: Written): Refusal | null {
  if (move.takes !== undefined)
    return {
      code: 'too_late',
      message: `step ${step.id} is ${statusWords(step.status)} by now, so it cannot be taken over; start it again`,
    };
  const refused = refuseAgentsStart(log, step);
  const mayOverride = written.origin === 'person' && move.override !== undefined;
  return refused?.code === 'escalate' && mayOverride ? null : refused;
}

/** @returns why no agent may start a step that is pending or has failed; null if one may */
export function refuseAgentsStart({ steps }: Pick<Worklog, 'steps'>, step: Step): Refusal | null {
  const open = step.blocked_by.filter((id) => !isSettledWell(steps.get(id)));
  if (open.length > 0)
    return { code: 'blocked', message: `step ${step.id} waits for ${open.map((id) => `step ${id}`).join(', ')}` };
  if (step.status !== 'failed' || step.retries < MOST_RETRIES) return null;
  return {
    code: 'escalate',
    message: `step ${step.id} was retried ${step.retries} times; now a person decides: retry with an override, skip or cancel it`,
  };
}

function isDecidedByPerson({ reason, decided_by, assumed }: Move, { origin }: Written): boolean {
  return assumed === true || origin === 'person' || (decided_by === 'person' && reason !== undefined);
}

function isSettledWell(step: Step | undefined): boolean {
  return step?.status === 'completed' || step?.status === 'skipped';
}

function enter(log: Worklog, step: Step, { to, reason, assumed }: Move, at: number): void {
  if (to === 'in_progress') {
    if (step.status === 'failed') step.retries += 1;
    step.started_at ??= at;
    step.ended_at = null;
    step.spans.push({ from: at, until: null });
  } else {
    if (to !== 'failed') resolveErrors(log, step, to);
    step.holder = null;
    step.held_by = null;
    step.ended_at = at;
    const span = step.spans.at(-1);
    if (span !== undefined) span.until ??= at;
    if (to === 'completed')
      for (const file of log.files.values())
        if (file.step === step.id && file.status === 'working') file.status = 'done';
  }
  step.status = to;
  step.reason = reason ?? null;
  step.assumed = assumed ?? step.assumed;
}

/** The step is settled, so its errors ask for nothing. */
function resolveErrors({ errors }: Worklog, { id }: Step, to: StepStatus): void {
  for (const error of errors) {
    if (error.step !== id || error.resolved) continue;
    error.resolved = true;
    if (error.resolution === PENDING) error.resolution = `step ${to}`;
  }
}

function hold(step: Step, move: Move, { id }: Written): void {
  Object.assign(step, heldAfter(move));
  step.held_by = id;
  step.call = move.call ?? null;
}

/** Completing again adds to the manifest and to the lists of the context, and sets the output and the validation if given. */
function record(step: Step, { title, files, context, no_context_reason, output, validation }: Move): void {
  for (const kind of ['created', 'modified', 'deleted'] as const)
    addMissing(step.files[kind], files?.[kind], MOST_FILES);
  if (context !== undefined) step.context = withLists(step.context ?? {}, context);
  step.title = title ?? step.title;
  step.no_context_reason = no_context_reason ?? step.no_context_reason;
  step.output = output ?? step.output;
  step.validation = validation ?? step.validation;
}

/** A kind that is new when there are too many is left out, as an entry is. */
function withLists(known: NonNullable<Step['context']>, added: NonNullable<Step['context']>): Step['context'] {
  const lists = new Map(Object.entries(known));
  for (const [kind, entries] of Object.entries(added)) {
    const list = [...(lists.get(kind) ?? [])];
    addMissing(list, entries, MOST_ENTRIES);
    if (lists.has(kind) || lists.size < MOST_ENTRIES) lists.set(kind, list);
  }
  return Object.fromEntries(lists);
}

function addMissing(list: string[], entries: readonly string[] = [], most: number): void {
  for (const entry of entries) if (list.length < most && !list.includes(entry)) list.push(entry);
}
