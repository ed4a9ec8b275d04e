/** A session that only its transcript records, for a reader new to it: what was asked, done, and left open. */
import { existsSync } from 'node:fs';
import { programNamed } from '../../src/agents/programs.js';
import type { Redact } from '../../src/log/redact.js';
import { isoTime } from '../../src/time.js';
import { filesInDoubt } from '../condition/filesInDoubt.js';
import { newWorklog } from '../fold/newWorklog.js';
import { progressOf } from '../fold/state.js';
import type { Observed } from '../observed/observed.js';
import type { ReadTranscript } from '../observed/transcript.js';
import { ago } from '../show/status.js';
import { type Section, withinBudget } from './budget.js';
import { errorsOf, refusalsOf, unreadLines } from './faultSections.js';
import { FENCE_LENGTH, fenced } from './fence.js';
import { changedOf, doubtOf } from './fileSections.js';
import { callsOf, entries, nextOf, openOf, tasksOf, turnLine, Words, wordsLines } from './observedSections.js';

const CHARACTERS = 4_000;
const MOST_ACTIONS = 8;

export interface BriefOptions {
  /** UTC epoch milliseconds. */
  readonly now: number;
  /** For relative paths, without links. */
  readonly directory: string;
  readonly redact: Redact;
}

/** @returns the brief as JSON; `context` is what {@link briefText} gives */
export function transcriptBrief(read: ReadTranscript, options: BriefOptions) {
  const { observed, format, sessionId, diagnostics } = read;
  const directory = directoryOf(read, options);
  const time = (at: number | null) => (at === null ? null : isoTime(at));
  const { done, total } = progressOf(observed.todos.list);
  return {
    format,
    session_id: sessionId,
    directory: read.directory,
    asked: observed.firstPrompt,
    last_asked: observed.lastPrompt,
    turn: observed.isTurnOpen ? 'open' : 'ended',
    began_at: time(observed.firstActivity),
    last_activity: time(observed.lastActivity),
    progress: { done, total },
    tasks: observed.todos.list.map(({ id, title, status }) => ({ id, title, status })),
    open: {
      calls: observed.openCalls().map((call) => ({ ...call, at: isoTime(call.at) })),
      waits: Object.fromEntries([...observed.waits].map(([kind, at]) => [kind, isoTime(at)])),
      agents: observed.agents.list().filter(({ open }) => open),
      orders: observed.waitingOrders.map(({ text, at }) => ({ text, at: isoTime(at) })),
    },
    files_in_doubt: doubtfulIn(observed, directory).map(({ step: _, ...file }) => file),
    files: Object.fromEntries(
      [...observed.files].map(([path, { change, from, rewound }]) => [
        path,
        { change, from, ...(rewound && { rewound }) },
      ]),
    ),
    errors: observed.errors.map((error) => ({ ...error, at: isoTime(error.at) })),
    refusals: observed.refusals.map((refusal) => ({ ...refusal, at: isoTime(refusal.at) })),
    recent: observed.actions.slice(-MOST_ACTIONS).map((action) => ({ ...action, at: isoTime(action.at) })),
    last_words: observed.lastWords,
    rewinds: observed.rewinds.map((each) => ({ ...each, at: isoTime(each.at) })),
    tokens: Object.fromEntries(observed.tokens),
    more: observed.more,
    diagnostics,
    context: briefText(read, options),
  };
}

/** @returns the brief for a model or a person, marked as data, of at most 4,000 characters */
export function briefText(read: ReadTranscript, options: BriefOptions): string {
  const { observed } = read;
  const { now, redact } = options;
  const directory = directoryOf(read, options);
  const words = new Words(redact);
  const doubtful = doubtfulIn(observed, directory);
  const sections = [
    headOf(read, now, words),
    openOf(observed, words),
    doubtOf(doubtful, words),
    tasksOf(observed, words, []),
    errorsOf(observed, words),
    refusalsOf(observed, words),
    changedOf(observed, directory, words, doubtful),
    callsOf(observed, MOST_ACTIONS, words),
    wayBackOf(read, words),
  ];
  return fenced(withinBudget(sections, CHARACTERS - FENCE_LENGTH));
}

function headOf({ observed, format, sessionId, directory }: ReadTranscript, now: number, words: Words): Section {
  const { firstPrompt, lastPrompt, lastActivity, firstActivity, compactions, compactedAt } = observed;
  const when =
    lastActivity === null || firstActivity === null
      ? 'no activity is known'
      : `from ${isoTime(firstActivity)} to ${isoTime(lastActivity)}, ${ago(now - lastActivity)}`;
  const name = sessionId === null ? 'without a name' : words.name(sessionId);
  return {
    title: '',
    entries: entries('purpose', [
      `Session ${name} of ${programNamed(format)?.title ?? 'an agent'}, ${when}.`,
      ...(directory === null ? [] : [`It worked in ${words.path(directory)}.`]),
      firstPrompt === null ? 'What was asked is not recorded.' : `It was asked: ${words.text(firstPrompt)}`,
      ...(lastPrompt === null || lastPrompt === firstPrompt ? [] : [`It was last asked: ${words.text(lastPrompt)}`]),
      turnLine(observed, words),
      ...wordsLines(observed, words),
      ...(compactedAt === null
        ? []
        : [
            compactions === 1
              ? `Its context was compacted once, at ${isoTime(compactedAt)}.`
              : `Its context was compacted ${compactions} times, last at ${isoTime(compactedAt)}.`,
          ]),
    ]),
  };
}

function wayBackOf({ observed, format, sessionId }: ReadTranscript, words: Words): Section {
  const next = nextOf(observed.todos.list);
  const back = programNamed(format)?.resume ?? null;
  return {
    title: '',
    entries: entries('next', [
      ...(next === undefined ? [] : [`Next: task ${words.name(next.id)}.`]),
      ...unreadLines(observed),
      ...(back === null || sessionId === null
        ? []
        : [`To continue that conversation: ${back} ${words.name(sessionId)}`]),
    ]),
  };
}

/** The agent's directory, if it is on this machine. */
function directoryOf({ directory }: ReadTranscript, options: BriefOptions): string {
  return directory !== null && existsSync(directory) ? directory : options.directory;
}

function doubtfulIn(fold: Observed, directory: string) {
  return filesInDoubt({ log: newWorklog(), fold }, directory);
}
