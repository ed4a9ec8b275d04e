/** A person took the conversation back to an earlier point: what is known of the session is then as it was there, but for its files. */
import type { Action, ObservedError } from './calls.js';
import type { Refusal } from './faults.js';
import type { ObservedFile } from './files.js';
import type { Prompt } from './prompt.js';
import type { Todo, Todos } from './todos.js';

export interface Rewind {
  readonly at: number;
  /** The prompts that do not count any more, as far as their words are known. */
  readonly prompts: readonly string[];
}

/** As it was before a prompt. */
export interface Point {
  /** How many prompts there had been. */
  readonly prompts: number;
  readonly todos: readonly Todo[];
  readonly action: Action | undefined;
  readonly error: ObservedError | undefined;
  readonly refusal: Refusal | undefined;
  readonly asked: Prompt | undefined;
  readonly firstPrompt: string | null;
  readonly isPersonHeard: boolean;
  readonly lastPrompt: string | null;
  readonly lastWords: string | null;
  /** The words of the prompt itself. */
  readonly text: string | null;
}

/** Points that are remembered; the oldest is forgotten first. */
const MOST_POINTS = 64;
const MOST_REWINDS = 20;

interface Rewindable {
  readonly todos: Todos;
  readonly actions: Action[];
  readonly errors: ObservedError[];
  readonly refusals: Refusal[];
  readonly files: Map<string, ObservedFile>;
  readonly touched: Set<string>;
  readonly rewinds: Rewind[];
  readonly asked: Prompt[];
  prompts: number;
  firstPrompt: string | null;
  isPersonHeard: boolean;
  lastPrompt: string | null;
  lastWords: string | null;
}

export function notePoint(points: Point[], observed: Rewindable, text: string | null): void {
  const { todos, actions, errors, refusals, prompts, firstPrompt, isPersonHeard, lastPrompt, lastWords } = observed;
  points.push({
    ...{ prompts, firstPrompt, isPersonHeard, lastPrompt, lastWords, text },
    todos: todos.list.map((todo) => ({ ...todo })),
    ...{ action: actions.at(-1), error: errors.at(-1), refusal: refusals.at(-1), asked: observed.asked.at(-1) },
  });
  if (points.length > MOST_POINTS) points.shift();
}

/** @param prompts how many do not count any more */
export function rewind(points: Point[], observed: Rewindable, { prompts, at }: { prompts: number; at: number }): void {
  const gone = points.splice(Math.max(points.length - prompts, 0));
  const [point] = gone;
  if (point === undefined) return;
  const { firstPrompt, isPersonHeard, lastPrompt, lastWords } = point;
  Object.assign(observed, { prompts: point.prompts, firstPrompt, isPersonHeard, lastPrompt, lastWords });
  observed.todos.list.splice(0, observed.todos.list.length, ...point.todos);
  cutAfter(observed.asked, point.asked);
  cutAfter(observed.actions, point.action);
  cutAfter(observed.errors, point.error);
  cutAfter(observed.refusals, point.refusal);
  observed.touched.clear();
  // Whether the code was taken back, too, is not recorded.
  for (const [path, file] of observed.files)
    if (file.since > point.prompts && file.change !== 'read') observed.files.set(path, { ...file, rewound: true });
  observed.rewinds.push({ at, prompts: gone.flatMap(({ text }) => text ?? []) });
  if (observed.rewinds.length > MOST_REWINDS) observed.rewinds.shift();
}

/** The oldest entries of a list may have been dropped: then all are later. */
function cutAfter<Entry>(list: Entry[], last: Entry | undefined): void {
  list.length = last === undefined ? 0 : list.indexOf(last) + 1;
}
