/** Sections of a context from what was declared of a session: steps, notes, entries, the last checkpoint. */
import { isoTime } from '../../src/time.js';
import { progressOf } from '../fold/state.js';
import type { Note, Worklog } from '../fold/worklog.js';
import type { Observed } from '../observed/observed.js';
import type { StepLike } from '../observed/step.js';
import { taskTitled } from '../observed/todos.js';
import type { Priority, StepStatus } from '../words.js';
import type { Rank, Section } from './budget.js';
import { type ContextLevel, holds } from './levels.js';
import { entries, nextOf, stepEntries, type Words } from './observedSections.js';

const NOTE_RANKS: Readonly<Record<Priority, Rank>> = {
  critical: 'critical_notes',
  high: 'high_notes',
  normal: 'notes',
};
const DIGEST_LENGTH = 12;
const MOST_TOP_NOTES = 3;

/** @param fold whose own tasks may be the same. Null if nothing was observed */
export function planOf(
  { steps: declared }: Worklog,
  { level, fold }: { readonly level: ContextLevel; readonly fold: Pick<Observed, 'todos'> | null },
  words: Words,
): Section {
  const steps = [...declared.values()];
  const { done, total } = progressOf(steps);
  const shown = holds(level, 'steps') ? steps : steps.filter(isOpen);
  const more = ({ title, status, reason }: StepLike) => {
    const own = taskTitled(fold?.todos.list ?? [], title);
    const why = status === 'failed' && reason ? `: ${words.text(reason)}` : '';
    const name = own === undefined || own.title === title ? '' : `${words.text(own.title)}, `;
    if (own === undefined || (name === '' && own.status === status)) return why;
    return `${why}; in its own list: ${name}${own.status.replace('_', ' ')}`;
  };
  return {
    title: `Steps, ${done} of ${total} were done:`,
    entries: stepEntries<StepLike>(shown, words, nextOf(steps)?.id, more),
  };
}

/** A failed one may be tried again. */
export function isOpen({ status }: { readonly status: StepStatus }): boolean {
  return status === 'in_progress' || status === 'pending' || status === 'failed';
}

export function notesOf(notes: readonly Note[], level: ContextLevel, words: Words): Section {
  const shown = holds(level, 'critical_notes') ? notes.filter(({ priority }) => priority === 'critical') : notes;
  const order: readonly Priority[] = ['critical', 'high', 'normal'];
  const sorted = order.flatMap((priority) => shown.filter((note) => note.priority === priority));
  const most = holds(level, 'top_notes') ? MOST_TOP_NOTES : sorted.length;
  return {
    title:
      most < sorted.length ? `Notes that were kept, ${sorted.length} in all; the first ones:` : 'Notes that were kept:',
    entries: sorted
      .slice(0, most)
      .map(({ priority, text }) => ({ rank: NOTE_RANKS[priority], text: `- ${priority}: ${words.text(text)}` })),
  };
}

/** Other sections show these: the purpose, how the run ended, the steps and where they are, the notes. */
const SHOWN_ELSEWHERE = ['session_started', 'run_started', 'run_ended', 'step_added', 'step', 'note'];

export function entriesOf({ recent, files }: Worklog, count: number, words: Words): Section {
  const inProgress = [...files].flatMap(([path, { status }]) => (status === 'working' ? [`${path}: working`] : []));
  // Lines of Watchkeeper and of a program's hooks say nothing of the work.
  const declared = recent.filter(
    ({ event, origin, words: entry }) =>
      !SHOWN_ELSEWHERE.includes(event) &&
      !(event === 'file' && inProgress.includes(entry)) &&
      origin !== 'watchkeeper' &&
      origin !== 'program',
  );
  const last = count === 0 ? [] : declared.slice(-count);
  const lines = last.map(({ at, words: entry }) => `- ${isoTime(at)} ${words.text(entry)}`);
  return { title: 'The last entries:', entries: entries('actions', lines) };
}

export function checkpointOf({ checkpoints }: Worklog, words: Words): Section {
  const last = [...checkpoints.values()].at(-1);
  const line = ({ name, head, at }: NonNullable<typeof last>) =>
    `Last checkpoint: ${words.name(name)}, ${isoTime(at)}${head === null ? '' : `, at commit ${words.name(head.slice(0, DIGEST_LENGTH))}`}`;
  return { title: '', entries: entries('rest', last === undefined ? [] : [line(last)]) };
}

/** An agent that has lost its history must not repeat them. */
export function repeatedOf({ errors }: Observed, words: Words): Section {
  const counts = new Map<string, number>();
  for (const { call } of errors) counts.set(call, (counts.get(call) ?? 0) + 1);
  const repeated = [...counts].filter(([, count]) => count > 1);
  return {
    title: 'Calls that failed more than once:',
    entries: entries(
      'actions',
      repeated.map(([call, count]) => `- ${words.text(call)}: ${count} times`),
    ),
  };
}
