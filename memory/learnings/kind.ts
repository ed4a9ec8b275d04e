/** The log of all learnings of a user: what was added, the actions that follow from it, and which of both are settled. */
import * as z from 'zod/mini';
import { textOf } from '../../src/journal/record.js';
import type { LogKind, Refusal } from '../logs/kind.js';
import { lacksFields } from '../logs/kind.js';
import { type Line, lineMaker, timeOfLine } from '../logs/line.js';
import type { Origin } from '../words.js';

/** Where something belongs. */
export interface Scope {
  /** Null outside of a repository; then the workspace decides. */
  readonly repository: string | null;
  readonly workspace: string;
}

export interface Learning extends Scope {
  readonly id: string;
  readonly text: string;
  readonly tags: readonly string[];
  /** The directory of its author. */
  readonly root: string;
  readonly session_id: string | null;
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly origin: Origin;
}

export interface Action {
  readonly id: string;
  /** The id of the learning from which it follows. */
  readonly learning: string;
  readonly text: string;
  readonly at: number;
  done_at: number | null;
}

export interface LearningsState {
  /** Those that were not dropped, in their order. */
  readonly learnings: Map<string, Learning>;
  readonly dropped: Set<string>;
  /** The learnings that were not dropped, in their order. */
  readonly actions: Map<string, Action>;
  /** Sessions with failed calls, by scope and by the digest of a failure's pattern. */
  readonly failed: Map<string, Map<string, string[]>>;
}

const word = z.string().check(z.minLength(1));
const maybe = z._default(z.nullable(z.string()), null);
const texts = z._default(z.array(z.string()), []);
const LEARNED = z.object({
  ...{ id: word, text: word, tags: texts, session_id: maybe, repository: maybe },
  ...{ workspace: z._default(z.string(), ''), root: z._default(z.string(), '') },
});
const ACTION = z.object({ id: word, learning: word, text: word });
const DONE = z.object({ action: word });
const DROPPED = z.object({ learning: word });

/** The id of a learning, and of an action, is that of its line. */
export interface LearningsEvents {
  readonly learned: Scope & {
    readonly id: string;
    readonly text: string;
    readonly tags: readonly string[];
    readonly root: string;
    readonly session_id: string | null;
  };
  readonly action: { readonly id: string; readonly learning: string; readonly text: string };
  readonly done: { readonly action: string };
  readonly dropped: { readonly learning: string };
  /** The failures of a session, as digests of patterns: no words of it. */
  readonly failed: Scope & { readonly session_id: string; readonly failures: readonly string[] };
}

export const learningsKind: LogKind<LearningsState, LearningsEvents> = {
  name: 'learnings',
  begin: () => ({ learnings: new Map(), dropped: new Set(), actions: new Map(), failed: new Map() }),
  apply,
  line: lineMaker<LearningsEvents>(),
};

/** @returns the name of the repository, or of the directory outside of one */
export function keyOf({ repository, workspace }: Scope): string {
  return repository ?? workspace;
}

function apply(state: LearningsState, line: Line): Refusal | null {
  switch (line.event) {
    case 'learned': {
      const found = LEARNED.safeParse(line);
      if (!found.success) return lacksFields(line);
      state.learnings.set(line.id, { ...found.data, at: timeOfLine(line), origin: line.origin });
      return null;
    }
    case 'action': {
      const found = ACTION.safeParse(line);
      if (!found.success) return lacksFields(line);
      if (!state.learnings.has(found.data.learning)) return gone(state, found.data.learning);
      state.actions.set(line.id, { ...found.data, at: timeOfLine(line), done_at: null });
      return null;
    }
    case 'done':
      return settle(state, line);
    case 'dropped':
      return drop(state, line);
    case 'failed':
      return fail(state, line);
    default:
      return null;
  }
}

function settle(state: LearningsState, line: Line): Refusal | null {
  const found = DONE.safeParse(line);
  if (!found.success) return lacksFields(line);
  const action = state.actions.get(found.data.action);
  if (action === undefined) return { code: 'no_action', message: `there is no action ${found.data.action}` };
  if (action.done_at !== null) return { code: 'done', message: `action ${action.id} is done already` };
  action.done_at = timeOfLine(line);
  return null;
}

function drop(state: LearningsState, line: Line): Refusal | null {
  const found = DROPPED.safeParse(line);
  if (!found.success) return lacksFields(line);
  const { learning } = found.data;
  if (!state.learnings.delete(learning)) return gone(state, learning);
  state.dropped.add(learning);
  for (const [id, action] of state.actions) if (action.learning === learning) state.actions.delete(id);
  return null;
}

/** There is a line for each session with a failure, and each start of an agent reads them: a schema takes ten times as long. */
function fail({ failed }: LearningsState, line: Line): Refusal | null {
  const { repository, workspace, session_id, failures } = line;
  const key = textOf(repository) ?? textOf(workspace);
  const session = textOf(session_id);
  if (key === null || session === null || !Array.isArray(failures)) return lacksFields(line);
  const known = failed.get(key) ?? new Map<string, string[]>();
  failed.set(key, known);
  for (const failure of failures) {
    const sessions = known.get(failure);
    if (sessions === undefined) known.set(failure, [session]);
    else if (!sessions.includes(session)) sessions.push(session);
  }
  return null;
}

function gone({ dropped }: LearningsState, id: string): Refusal {
  return dropped.has(id)
    ? { code: 'dropped', message: `learning ${id} was dropped` }
    : { code: 'no_learning', message: `there is no learning ${id}` };
}
