/** One call that moves phases: endings first, then starts. It becomes several lines, which are refused as a whole beforehand. */
import { counted } from '../../src/counted.js';
import { UsageError } from '../../src/errors.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { MOST_FILES } from '../fold/bounds.js';
import type { Holder } from '../fold/holder.js';
import { type WorklogFields, type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { RefusedError } from '../logs/kind.js';
import { startFields } from './holding.js';

type MoveFields = WorklogFields<'step'>;

/** Paths by the kind of change, as the workspace names them. */
interface Manifest {
  readonly created: readonly string[];
  readonly modified: readonly string[];
  readonly deleted: readonly string[];
}

export interface Transition {
  /** The ids of phases, as text. */
  readonly completed: string | null;
  readonly failed: string | null;
  readonly skipped: string | null;
  readonly next: readonly string[];
  /** These are of the phase that is completed, else of the one that failed. */
  readonly files: Manifest;
  readonly done: Pick<MoveFields, 'context' | 'no_context_reason' | 'output' | 'validation'>;
  readonly tokens: Omit<WorklogFields<'tokens'>, 'step'> | undefined;
  readonly error: Omit<WorklogFields<'error'>, 'step' | 'resolved'> | undefined;
  /** The agent of the phase that ends; if none ends, of those that start. */
  readonly agent: string | undefined;
  readonly reason: string | undefined;
  readonly decided_by: string | undefined;
  /** The caller. Null for a person. */
  readonly holder: Holder | null;
  /** The id of its call: a transcript names the sub-agent by it. */
  readonly call: string | undefined;
  /** The state of the code, for the checkpoint of a completed phase. Null if there is none. */
  readonly mark: Omit<WorklogFields<'checkpoint'>, 'name'> | null;
}

/** Paths that one line of the log takes, in UTF-16 units. */
const MOST_PATHS_LENGTH = 12 * 1024;

/**
 * @throws UsageError if it moves nothing, moves a phase in two ways that exclude each other, or names more files than a phase may have, a
 *   file without a name, or files without a phase
 */
export function requireUsable({ completed, failed, skipped, next, files }: Transition): void {
  if ([completed, failed, skipped].every((id) => id === null) && next.length === 0)
    throw new UsageError(
      'which phase moves? Give completed_phase_id, failed_phase_id, skipped_phase_id, next_phase_id or next_phase_ids',
    );
  // A failed phase may be started again, or skipped, in the same call.
  const others = [failed, skipped, ...next];
  const twice = completed !== null && others.includes(completed) ? completed : next.find((id) => id === skipped);
  if (twice !== undefined)
    throw new UsageError(`phase ${twice} is named twice: a call completes it, or fails it and perhaps starts it again`);
  for (const [kind, paths] of Object.entries(files)) {
    if (paths.some((path: string) => path === '')) throw new UsageError(`files_${kind} has a path that is empty`);
    if (paths.length > MOST_FILES)
      throw new UsageError(`files_${kind} has ${counted(paths.length, 'file')}; a phase has at most ${MOST_FILES}`);
    if (paths.length > 0 && completed === null && failed === null)
      throw new UsageError(`files_${kind} belong to a phase: name it in completed_phase_id or failed_phase_id`);
  }
}

/**
 * @returns the name of the agent that gets the phases that start. The one that has ended a phase in this call does not: which agents do
 *   the next ones is not known yet, so their starter has them until a named agent of its process starts them
 */
export function starterOf({ completed, failed, skipped, agent }: Transition): string | undefined {
  return [completed, failed, skipped].every((id) => id === null) ? agent : undefined;
}

/**
 * @returns the lines that do it in the present state
 * @throws RefusedError if files are named without context, or another agent has a phase that is to be started
 */
export function linesOfTransition(here: ProcessIdentity, state: Worklog, transition: Transition): WorklogLine[] {
  const { skipped, next, reason, decided_by, agent, tokens, holder, call } = transition;
  const step = transition.completed ?? transition.failed ?? (next.length === 1 ? next[0] : undefined);
  const starter = starterOf(transition);
  const starts = next.map((id) => {
    const isEnded = id === transition.failed;
    // A phase that fails in this call has no holder any more when it is retried.
    const held = isEnded
      ? { ...(holder !== null && { holder }) }
      : startFields(here, state, { step: id, agent: starter, holder });
    return worklogKind.line('step', { step: id, to: 'in_progress', agent: starter, call, ...held });
  });
  return [
    ...completionLines(state, transition),
    ...failureLines(transition),
    ...(skipped === null ? [] : [worklogKind.line('step', { step: skipped, to: 'skipped', reason, decided_by })]),
    ...(tokens === undefined ? [] : [worklogKind.line('tokens', { agent, ...tokens, step })]),
    ...starts,
  ];
}

function completionLines(state: Worklog, transition: Transition): WorklogLine[] {
  const { completed: id, files, done, mark, error, agent } = transition;
  if (id === null) return [];
  requireContext(state, transition, id);
  const isFirst = state.steps.get(id)?.status === 'in_progress';
  const name = freeName(state, `phase-${id}`);
  return [
    ...(error === undefined || transition.failed !== null
      ? []
      : [worklogKind.line('error', { agent, ...error, step: id })]),
    ...moveLines({ step: id, to: 'completed', agent, ...done }, files),
    ...(isFirst && mark !== null ? [worklogKind.line('checkpoint', { ...mark, name, auto: true })] : []),
  ];
}

/** A failure is two lines: the error, and the move. */
function failureLines({ completed, failed, files, done, error, agent, reason }: Transition): WorklogLine[] {
  if (failed === null) return [];
  const message = error?.message ?? reason;
  const errors =
    message === undefined
      ? []
      : [worklogKind.line('error', { agent, type: 'runtime' as const, message, ...error, step: failed })];
  const move = { step: failed, to: 'failed', agent, reason: reason ?? message } as const;
  const moves = completed === null ? moveLines({ ...move, ...done }, files) : [worklogKind.line('step', move)];
  return [...errors, ...moves];
}

/** @returns the move, and repetitions of it that add the files for which one line has no room */
function moveLines(move: Pick<MoveFields, 'step' | 'to'> & Partial<MoveFields>, files: Manifest): WorklogLine[] {
  const [first = {}, ...more] = partsOf(files);
  return [
    worklogKind.line('step', { ...move, files: first }),
    ...more.map((part) => worklogKind.line('step', { step: move.step, to: move.to, files: part })),
  ];
}

function partsOf(files: Manifest): Partial<Record<keyof Manifest, string[]>>[] {
  const parts: Partial<Record<keyof Manifest, string[]>>[] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const kind of ['created', 'modified', 'deleted'] as const)
    for (const path of files[kind]) {
      length += path.length;
      if (length > MOST_PATHS_LENGTH) {
        parts.push({});
        length = path.length;
      }
      const part = parts.at(-1);
      if (part !== undefined) part[kind] = [...(part[kind] ?? []), path];
    }
  return parts;
}

/** @returns `name`, else the first free one of `name-2`, `name-3`, … */
function freeName({ checkpoints }: Worklog, name: string): string {
  let free = name;
  for (let number = 2; checkpoints.has(free); number += 1) free = `${name}-${number}`;
  return free;
}

/** The agent that knows what the next phases need of the changed files is about to be gone. */
function requireContext({ steps }: Worklog, { files, done }: Transition, id: string): void {
  const known = steps.get(id);
  const hasFiles = Object.values(files).some((paths) => paths.length > 0);
  const contexts = [done.context, known?.context];
  const isGiven = contexts.some((context) => Object.values(context ?? {}).some((entries) => entries.length > 0));
  if (!hasFiles || isGiven || (done.no_context_reason ?? known?.no_context_reason ?? null) !== null) return;
  throw new RefusedError({
    code: 'context_missing',
    message: `phase ${id} names files: give downstream_context for the phases behind it, or no_context_reason`,
  });
}
