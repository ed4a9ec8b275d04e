/** What the next agent must know of a session: past tense, dated, within a budget, marked as data. */

import type { MemorySettings } from '../../src/config/memorySettings.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { isoTime } from '../../src/time.js';
import { checkIfResumedSession } from '../fold/freshness.js';
import { progressOf, purposeOf } from '../fold/state.js';
import type { Note, Worklog } from '../fold/worklog.js';
import { ago, MARKS } from '../show/status.js';
import type { Priority } from '../words.js';
import type { Rank, Section } from './budget.js';
import { withinBudget } from './budget.js';
import { type DoubtfulFile, filesInDoubt, proofOf } from './crashReport.js';
import { FENCE_LENGTH, fenced, quoted } from './fence.js';

/** Who needs the context. */
export type ContextLevel = keyof MemorySettings['context'];

export interface ContextOptions {
  readonly level: ContextLevel;
  /** UTC epoch milliseconds. */
  readonly now: number;
  /** Of the session's workspace. */
  readonly root: string;
  readonly here: ProcessIdentity;
  readonly crashed: boolean;
  /** Notes of the workspace, for every session in it. */
  readonly pinned: readonly Note[];
  /** How many characters each level has, and from when on a session was resumed. */
  readonly settings: MemorySettings;
}

const NOTE_RANKS: Readonly<Record<Priority, Rank>> = {
  critical: 'critical_notes',
  high: 'high_notes',
  normal: 'notes',
};
const MOST_ACTIONS: Readonly<Record<ContextLevel, number>> = {
  root: 5,
  compacted: 0,
  resumed: 0,
  delegated: 0,
  revival: 10,
};

/** @returns the context as text; empty if there is nothing to say */
export function buildResumeContext(log: Worklog, options: ContextOptions): string {
  const { level, settings } = options;
  const characters = settings.context[level];
  if (log.created_at === null && log.last_activity === null) return '';
  if (characters === 0) return '';
  const sections = [
    headOf(log, options),
    stepsOf(log, level),
    ...(level === 'delegated' ? [] : [filesOf(filesInDoubt(log, options.root))]),
    notesOf([...options.pinned, ...log.notes], level),
    actionsOf(log, MOST_ACTIONS[level]),
    nextOf(log),
  ];
  return fenced(withinBudget(sections, characters - FENCE_LENGTH));
}

function headOf(log: Worklog, { now, here, crashed, settings }: ContextOptions): Section {
  const { facts, last_activity } = log;
  const last =
    last_activity === null
      ? 'no activity is known'
      : `last activity ${isoTime(last_activity)}, ${ago(now - last_activity)}`;
  const resumed = checkIfResumedSession(last_activity, now, settings.freshness) ? '; it was resumed after a while' : '';
  return {
    title: '',
    entries: [
      { rank: 'purpose', text: `Session ${log.session_id}: ${quoted(purposeOf(log))}` },
      { rank: 'purpose', text: `It was ${log.lifecycle}; ${last}${resumed}.` },
      ...(crashed ? [{ rank: 'purpose' as const, text: `Its agent crashed: ${proofOf(log, here)}.` }] : []),
      ...(typeof facts?.set.framework === 'string'
        ? [{ rank: 'rest' as const, text: `Framework: ${quoted(facts.set.framework)}` }]
        : []),
    ],
  };
}

function stepsOf(log: Worklog, level: ContextLevel): Section {
  const steps = [...log.steps.values()];
  const { done, total } = progressOf(steps);
  const shown =
    level === 'root' || level === 'revival'
      ? steps
      : steps.filter(({ status }) => status === 'in_progress' || status === 'pending');
  const line = (text: string) => ({ rank: 'steps' as const, text });
  return {
    title: `Steps, ${done} of ${total} were done:`,
    entries: shown.map(({ id, title, status }) => line(`${MARKS[status]} ${id} ${quoted(title)}`)),
  };
}

function filesOf(files: readonly DoubtfulFile[]): Section {
  const state = ({ exists, size, changed_since }: DoubtfulFile): string =>
    exists ? `${size} bytes, ${changed_since ? 'changed' : 'not changed'} since it was begun` : 'it does not exist';
  return {
    title: 'Files that were being worked on, and may be half written:',
    entries: files.map((file) => ({ rank: 'files', text: `- ${quoted(file.path)}: ${state(file)}` })),
  };
}

function notesOf(notes: readonly Note[], level: ContextLevel): Section {
  const shown = level === 'delegated' ? notes.filter(({ priority }) => priority === 'critical') : notes;
  const order: readonly Priority[] = ['critical', 'high', 'normal'];
  const sorted = order.flatMap((priority) => shown.filter((note) => note.priority === priority));
  const most = level === 'resumed' ? 3 : sorted.length;
  return {
    title: 'Notes that were kept:',
    entries: sorted
      .slice(0, most)
      .map(({ priority, text }) => ({ rank: NOTE_RANKS[priority], text: `- ${priority}: ${quoted(text)}` })),
  };
}

function actionsOf({ recent }: Worklog, count: number): Section {
  const last = count === 0 ? [] : recent.slice(-count);
  return {
    title: 'The last entries:',
    entries: last.map(({ at, words }) => ({ rank: 'actions', text: `- ${isoTime(at)} ${quoted(words)}` })),
  };
}

function nextOf(log: Worklog): Section {
  const steps = [...log.steps.values()];
  const next = steps.find(({ status }) => status === 'in_progress') ?? steps.find(({ status }) => status === 'pending');
  const entries = [
    ...(next === undefined
      ? []
      : [
          `Next: step ${next.id}, ${quoted(next.title)}${next.status === 'in_progress' ? ', which was in progress' : ''}`,
        ]),
    `To go on with it: watchkeeper track init --resume; to see all of it: watchkeeper work show ${log.session_id}`,
  ];
  return { title: '', entries: entries.map((text) => ({ rank: 'next', text })) };
}
