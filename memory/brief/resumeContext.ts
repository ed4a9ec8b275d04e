/** What the next agent must know of a session: past tense, dated, within a budget, marked as data. */

import type { MemorySettings } from '../../src/config/memorySettings.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Redact } from '../../src/log/redact.js';
import { isoTime } from '../../src/time.js';
import { checkIfResumedSession } from '../fold/freshness.js';
import { progressOf, purposeOf } from '../fold/state.js';
import type { Note, Worklog } from '../fold/worklog.js';
import type { Observed } from '../observed/observed.js';
import { ago, stepsOf } from '../show/status.js';
import type { Priority } from '../words.js';
import type { Rank, Section } from './budget.js';
import { withinBudget } from './budget.js';
import { proofOf } from './crashReport.js';
import { FENCE_LENGTH, fenced } from './fence.js';
import { filesInDoubt } from './filesInDoubt.js';
import { goOnCommand } from './goOn.js';
import {
  callsOf,
  changedOf,
  costOf,
  doubtOf,
  entries,
  errorsOf,
  openOf,
  stepEntries,
  tasksOf,
  turnLines,
  Words,
} from './observedSections.js';

/** Who needs the context. */
export type ContextLevel = keyof MemorySettings['context'];

export interface ContextOptions {
  readonly level: ContextLevel;
  /** UTC epoch milliseconds. */
  readonly now: number;
  /** Of the session's workspace, without links; relative paths are meant in it. */
  readonly root: string;
  readonly here: ProcessIdentity;
  readonly crashed: boolean;
  /** What was observed of the session; null: nothing was. */
  readonly fold: Observed | null;
  /** How its run ended, in words of others; null: it is not known. */
  readonly end?: string | null;
  /** Notes of the workspace, for every session in it. */
  readonly pinned: readonly Note[];
  /** How many characters each level has, and from when on a session was resumed. */
  readonly settings: MemorySettings;
  /** Whether it is a session of a bridge. */
  readonly isBridges?: boolean;
  /** Characters of the level that the caller uses. */
  readonly used?: number;
  /** Applied to all words before they are cut. */
  readonly redact: Redact;
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
  const { level, settings, fold, root, used = 0 } = options;
  const characters = settings.context[level];
  if (log.created_at === null && log.last_activity === null && fold === null) return '';
  const words = new Words(options.redact);
  const isWhole = level === 'root' || level === 'revival';
  const sections = [
    headOf(log, options, words),
    ...(fold === null || !isWhole ? [] : [openOf(fold, words)]),
    ...(level === 'delegated' ? [] : [doubtOf(filesInDoubt({ log, fold }, root), words)]),
    planOf(log, isWhole, words),
    ...(fold === null ? [] : [tasksOf(fold, words)]),
    ...(fold === null || !isWhole ? [] : [errorsOf(fold, words)]),
    notesOf([...options.pinned, ...log.notes], level, words),
    ...(fold === null || !isWhole ? [] : [changedOf(fold, root, words)]),
    entriesOf(log, MOST_ACTIONS[level], words),
    ...(fold === null ? [] : [callsOf(fold, MOST_ACTIONS[level], words)]),
    ...(fold === null || !isWhole ? [] : [costOf(fold)]),
    nextOf(log, options, words),
  ];
  return fenced(withinBudget(sections, characters - used - FENCE_LENGTH));
}

function headOf(log: Worklog, options: ContextOptions, words: Words): Section {
  const { fold, here, crashed, end = null, level } = options;
  // Without `texts`, neither is kept.
  const purpose = log.facts?.purpose || (fold?.firstPrompt ?? purposeOf(log));
  const isShort = level !== 'root' && level !== 'revival';
  return {
    title: '',
    entries: [
      ...entries('purpose', [
        `Session ${nameOf(log, words)}${purpose === '' ? '' : `: ${words.text(purpose)}`}`,
        timesOf(log, options),
        ...(log.end?.summary ? [`How it ended: ${words.text(log.end.summary)}`] : []),
        ...(crashed ? [`Its agent crashed: ${proofOf(log, here)}.`] : []),
        ...(end === null ? [] : [`How its run ended: ${words.text(end)}`]),
        ...(fold === null || isShort ? [] : turnLines(fold, words)),
      ]),
      ...entries(
        'rest',
        typeof log.facts?.set.framework === 'string' ? [`Framework: ${words.text(log.facts.set.framework)}`] : [],
      ),
    ],
  };
}

/** An agent may have written to its own worklog: also the id of its session is its words. */
function nameOf({ session_id }: Worklog, words: Words): string {
  return session_id === null ? 'without a name' : words.name(session_id);
}

/** The second attempt knows that the first one was ended. */
function timesOf(log: Worklog, { level, fold, now, settings }: ContextOptions): string {
  const began = log.created_at ?? fold?.firstActivity ?? null;
  const last = Math.max(log.last_activity ?? 0, fold?.lastActivity ?? 0) || null;
  const isResumed = level !== 'revival' && checkIfResumedSession(last, now, settings.freshness);
  const resumed = isResumed ? '; it was resumed after a while' : '';
  const clauses = [
    ...(level === 'revival' && began !== null ? [`It began at ${isoTime(began)}`] : []),
    ...(level !== 'revival' && log.created_at !== null ? [lifecycleOf(log)] : []),
    last === null ? 'no activity is known' : `last activity ${isoTime(last)}, ${ago(now - last)}${resumed}`,
  ];
  return `${clauses.join('; ')}.`;
}

function lifecycleOf({ lifecycle, end }: Worklog): string {
  return end === null ? `It was ${lifecycle}` : `It had ended as ${end.reason}`;
}

function planOf(log: Worklog, isWhole: boolean, words: Words): Section {
  const steps = [...log.steps.values()];
  const { done, total } = progressOf(steps);
  const shown = isWhole ? steps : steps.filter(({ status }) => status === 'in_progress' || status === 'pending');
  return { title: `Steps, ${done} of ${total} were done:`, entries: stepEntries(shown, words) };
}

function notesOf(notes: readonly Note[], level: ContextLevel, words: Words): Section {
  const shown = level === 'delegated' ? notes.filter(({ priority }) => priority === 'critical') : notes;
  const order: readonly Priority[] = ['critical', 'high', 'normal'];
  const sorted = order.flatMap((priority) => shown.filter((note) => note.priority === priority));
  const most = level === 'resumed' ? 3 : sorted.length;
  return {
    title: 'Notes that were kept:',
    entries: sorted
      .slice(0, most)
      .map(({ priority, text }) => ({ rank: NOTE_RANKS[priority], text: `- ${priority}: ${words.text(text)}` })),
  };
}

function entriesOf({ recent }: Worklog, count: number, words: Words): Section {
  // What Watchkeeper wrote by itself, such as the start of a run, says nothing of the work.
  const declared = recent.filter(({ origin }) => origin !== 'watchkeeper');
  const last = count === 0 ? [] : declared.slice(-count);
  const lines = last.map(({ at, words: entry }) => `- ${isoTime(at)} ${words.text(entry)}`);
  return { title: 'The last entries:', entries: entries('actions', lines) };
}

function nextOf(log: Worklog, { level, fold, isBridges = false }: ContextOptions, words: Words): Section {
  const steps = stepsOf({ log, fold });
  const next = steps.find(({ status }) => status === 'in_progress') ?? steps.find(({ status }) => status === 'pending');
  const name = nameOf(log, words);
  const was = next?.status === 'in_progress' ? ', which was in progress' : '';
  return {
    title: '',
    entries: entries('next', [
      ...(next === undefined ? [] : [`Next: step ${words.name(next.id)}, ${words.text(next.title)}${was}`]),
      ...(level === 'revival' ? [] : [waysOn(log, name, isBridges)]),
    ]),
  };
}

/** A bridge decides itself what becomes of its sessions. */
function waysOn(log: Worklog, name: string, isBridges: boolean): string {
  if (isBridges) return `To see all of it, where its bridge runs: watchkeeper session ${name}`;
  return `To go on with it: ${goOnCommand(log, name)}; to see all of it: watchkeeper work show ${name}`;
}
