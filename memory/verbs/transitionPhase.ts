import * as z from 'zod/mini';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { overBy } from '../fold/rules/kind.js';
import { Git } from '../git/git.js';
import { type Refusal, RefusedError } from '../logs/kind.js';
import { lookAt } from '../look/look.js';
import type { Locating } from '../look/standing.js';
import { observe } from '../observed/sources.js';
import { conflictsOf } from '../plans/conflicts.js';
import { callerHolder, claimFields, takenBy } from '../plans/holding.js';
import { movesOf, nextPhases } from '../plans/position.js';
import { unattributedChanges, unseenFiles } from '../plans/seenChanges.js';
import { linesOfTransition, requireUsable, starterOf, type Transition } from '../plans/transition.js';
import type { Continuing } from '../programs/afterEnd.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Listener, Viewer } from '../sessions/views.js';
import { writeTogether } from '../sessions/write.js';
import { ERROR_TYPES } from '../words.js';
import { afterMoves } from './ending.js';
import { given, type Input, WORDS_IF_ANY } from './fields.js';
import { meant } from './meant.js';
import { ID_SCHEMA } from './planFields.js';
import { verb } from './verb.js';

const TEXTS = z.optional(z.array(z.string()));
const COUNT = z.optional(z.int().check(z.nonnegative()));
const MAYBE_PHASE = z.optional(z.nullable(ID_SCHEMA));

const FIELDS = {
  completed_phase_id: given(MAYBE_PHASE),
  failed_phase_id: given(MAYBE_PHASE),
  skipped_phase_id: given(MAYBE_PHASE),
  next_phase_id: given(MAYBE_PHASE),
  next_phase_ids: given(z.optional(z.array(ID_SCHEMA))),
  files_created: given(TEXTS),
  files_modified: given(TEXTS),
  files_deleted: given(TEXTS),
  downstream_context: given(
    z.optional(
      z.strictObject({
        key_interfaces_introduced: TEXTS,
        patterns_established: TEXTS,
        integration_points: TEXTS,
        assumptions: TEXTS,
        warnings: TEXTS,
      }),
    ),
  ),
  no_context_reason: given(WORDS_IF_ANY),
  output: given(WORDS_IF_ANY),
  validation: given(z.optional(z.strictObject({ passed: z.boolean(), details: WORDS_IF_ANY }))),
  token_usage: given(z.optional(z.strictObject({ agent: WORDS_IF_ANY, input: COUNT, output: COUNT, cached: COUNT }))),
  error: given(
    z.optional(
      z.union([
        z.string().check(z.minLength(1)),
        z.strictObject({
          type: z.enum(ERROR_TYPES),
          message: z.string(),
          resolution: WORDS_IF_ANY,
          agent: WORDS_IF_ANY,
        }),
      ]),
    ),
  ),
  agent: given(WORDS_IF_ANY),
  decided_by: given(z.optional(z.enum(['agent', 'person']))),
  reason: given(WORDS_IF_ANY),
};

export const transitionPhase = verb({
  name: 'transition_phase',
  summary: 'end phases and start others, all or none',
  fields: FIELDS,
  async run(memory, input) {
    const session = meant(memory, input);
    const transition = transitionOf(memory, session, input);
    requireUsable(transition);
    const left = await leftBehind(memory, session, transition);
    const moved = move(memory, session, transition);
    const { log } = session;
    const compared = transition.completed === null ? null : await seenOf(memory, session);
    const place = memory.workspaceOf(log.state) ?? memory.workspace;
    const settled = moved.completed.length + moved.skipped.length;
    const value = {
      session_id: session.id,
      ...moved,
      unseen: compared === null ? [] : unseenFiles(compared, moved.completed, place.root),
      unattributed_changes: compared === null ? [] : unattributedChanges(compared, place.root),
      legal_next: nextPhases(log.state),
      ...(left.length > 0 && { conflicts: left }),
    };
    const after = settled === 0 ? null : afterMoves(memory, session);
    return { value: { ...value, ...after?.value }, lines: null, ...after?.more };
  },
});

/**
 * @returns of the phases that would be taken over, the agents that are dead, and the files that those may have left half done. Later
 *   looks name them no more: the phase has an agent that lives then
 */
async function leftBehind(memory: Locating, session: OpenSession, transition: Transition) {
  const { state } = session.log;
  const claim = { agent: starterOf(transition), holder: transition.holder };
  const startOf = (step: string) => claimFields(memory.surroundings.process, state, { step, ...claim });
  const taken = transition.next.filter((step) => startOf(step).takes !== undefined);
  if (taken.length === 0) return [];
  const conflicts = conflictsOf(memory, await lookAt(memory, session), memory.workspaceOf(state) ?? memory.workspace);
  return conflicts.filter(
    (one) =>
      (one.kind === 'holder_dead' || one.kind === 'half_done_file') &&
      (one.phase === null || taken.includes(one.phase)),
  );
}

function transitionOf(memory: Continuing & Listener, session: OpenSession, input: Input<typeof FIELDS>): Transition {
  const { token_usage, error, agent, reason, decided_by } = input;
  const pathOf = (path: string) => (path === '' ? '' : memory.pathOf(path, session.log.state));
  const paths = (given: readonly string[] = []) => [...new Set(given.map((path) => pathOf(path.trim())))];
  const completed = textOf(input.completed_phase_id);
  const next = [input.next_phase_id ?? [], input.next_phase_ids ?? []].flat().map(String);
  return {
    completed,
    failed: textOf(input.failed_phase_id),
    skipped: textOf(input.skipped_phase_id),
    next: [...new Set(next)],
    files: {
      created: paths(input.files_created),
      modified: paths(input.files_modified),
      deleted: paths(input.files_deleted),
    },
    done: {
      context: contextOf(input.downstream_context),
      no_context_reason: input.no_context_reason,
      output: input.output,
      validation: input.validation,
    },
    tokens: token_usage,
    error: errorOf(error),
    ...{ agent, reason, decided_by },
    holder: callerHolder(memory),
    call: memory.surroundings.toolCall?.id ?? undefined,
    mark: completed === null ? null : markOf(memory, session),
  };
}

function textOf(id: string | number | null | undefined): string | null {
  return id === null || id === undefined ? null : String(id);
}

function errorOf(error: Input<typeof FIELDS>['error']): Transition['error'] {
  if (error === undefined) return undefined;
  const fields = typeof error === 'string' ? { type: 'runtime' as const, message: error } : error;
  return isBlank(fields.message) ? undefined : fields;
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function contextOf(given: Readonly<Record<string, readonly string[] | undefined>> | undefined) {
  if (given === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, texts]) => {
      return texts === undefined ? [] : [[name, texts.filter((text) => !isBlank(text))]];
    }),
  );
}

/** @returns null if the session's directory is in no repository, or git does not answer: then the phase ends without a checkpoint */
function markOf(memory: Viewer, { log }: OpenSession): Transition['mark'] {
  const place = memory.workspaceOf(log.state) ?? memory.workspace;
  const state = place.kind === 'git' ? new Git(place.root, memory.surroundings.variables).state() : null;
  if (state === null || state === 'unanswered') return null;
  const { head, branch, dirty_digest, dirty } = state;
  return { head, branch, dirty_digest, dirty: dirty.length };
}

/** What a completion is compared with. A look at the whole session takes as long as all the rest of a call. */
async function seenOf(memory: Viewer, { log: { state: log }, folder }: OpenSession) {
  const session = { log, folder, workspace: memory.workspaceOf(log) };
  const { fold } = await observe(session, { folders: memory.programs, redact: memory.stamp.redact });
  return { log, fold };
}

/** The outcome of each phase, in the words of the answer. */
interface Moved {
  readonly completed: string[];
  readonly failed: string[];
  readonly skipped: string[];
  readonly started: string[];
  /** Moves that another writer has made impossible in the meantime. */
  readonly refused: { readonly phase: string | null; readonly code: string; readonly why: string }[];
}

const LISTS = { completed: 'completed', failed: 'failed', skipped: 'skipped', in_progress: 'started' } as const;

/** @throws RefusedError with the phases that can be started, if nothing of it was applied */
function move(memory: Viewer, session: OpenSession, transition: Transition): Moved {
  const here = memory.surroundings.process;
  let lines: ReturnType<typeof linesOfTransition> = [];
  try {
    const outcomes = writeTogether(session, memory.stamp, (state) => {
      lines = linesOfTransition(here, state, transition);
      return lines;
    });
    const [first] = outcomes;
    // A single line is written in any case, so that an illegal move is counted.
    if (first && outcomes.every((outcome) => outcome !== null)) throw refusalOf(here, session, transition, first);
    return movedBy(lines, outcomes);
  } catch (error) {
    throw error instanceof RefusedError ? withMoves(session, transition, error) : error;
  }
}

/** @returns the refusal; if another agent was faster, with the words and details of that agent */
function refusalOf(here: ProcessIdentity, { log }: OpenSession, transition: Transition, refusal: Refusal) {
  const { next, holder } = transition;
  const agent = starterOf(transition);
  const taken = next.map((step) => takenBy(here, log.state, { step, agent, holder })).find((one) => one !== null);
  return refusal.code === 'taken' && taken ? taken : new RefusedError(refusal);
}

function movedBy(lines: ReturnType<typeof linesOfTransition>, outcomes: readonly (Refusal | null)[]): Moved {
  const moved: Moved = { completed: [], failed: [], skipped: [], started: [], refused: [] };
  for (const [index, line] of lines.entries()) {
    const refusal = outcomes[index] ?? null;
    const phase = 'step' in line && typeof line.step === 'string' ? line.step : null;
    if (refusal !== null) moved.refused.push({ phase, code: refusal.code, why: refusal.message });
    else if (line.event === 'step' && phase !== null && line.to in LISTS) {
      const list = moved[LISTS[line.to as keyof typeof LISTS]];
      if (!list.includes(phase)) list.push(phase);
    }
  }
  return moved;
}

function withMoves(
  { id, log }: OpenSession,
  { completed, failed, skipped, next }: Transition,
  error: RefusedError,
): RefusedError {
  // A session that is over has no moves.
  if (overBy(log.state) !== null) return error;
  const named = [completed, failed, skipped, ...next].flatMap((phase) => log.state.steps.get(phase ?? '') ?? []);
  const legal_moves = Object.fromEntries(named.map((step) => [step.id, movesOf(log.state, step)]));
  // A caller that has named none learns which one was meant: it may be another than the one that has the phase.
  const details = { ...error.details, session_id: id, legal_moves, legal_next: nextPhases(log.state) };
  return new RefusedError({ code: error.code, message: error.message }, details);
}
