/** A session that only its transcript knows, for somebody who was not there: what was asked, done, and left open. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { shorten } from '../../src/log/shorten.js';
import { isoTime } from '../../src/time.js';
import { progressOf } from '../fold/state.js';
import type { ObservedFile } from '../observed/observed.js';
import type { ReadTranscript } from '../observed/transcript.js';
import { ago, MARKS } from '../show/status.js';
import { type Entry, type Rank, type Section, withinBudget } from './budget.js';
import { FENCE_LENGTH, fenced, quoted } from './fence.js';

const CHARACTERS = 4_000;
const LONGEST_WORDS = 300;
const MOST_ERRORS = 5;
const MOST_ACTIONS = 8;
const PROGRAMS = { claude: 'Claude Code', codex: 'Codex', journal: 'an agent' } as const;

/** A file that was changed in a turn that did not end. */
export interface TouchedFile {
  readonly path: string;
  readonly exists: boolean;
  readonly size: number | null;
  /** Whether it was changed after the agent last did so. */
  readonly changed_since: boolean | null;
}

export interface BriefOptions {
  /** UTC epoch milliseconds. */
  readonly now: number;
  /** For relative paths. */
  readonly directory: string;
}

/** @returns the brief as JSON; `context` is what {@link briefText} gives */
export function transcriptBrief(read: ReadTranscript, options: BriefOptions) {
  const { observed, format, sessionId, diagnostics } = read;
  const time = (at: number | null) => (at === null ? null : isoTime(at));
  const { done, total } = progressOf(observed.todos.list);
  return {
    format,
    session_id: sessionId,
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
    },
    files_in_doubt: filesInDoubt(read, options.directory),
    files: Object.fromEntries([...observed.files].map(([path, { change, from }]) => [path, { change, from }])),
    errors: observed.errors.map((error) => ({ ...error, at: isoTime(error.at) })),
    recent: observed.actions.slice(-MOST_ACTIONS).map((action) => ({ ...action, at: isoTime(action.at) })),
    last_words: observed.lastWords,
    tokens: Object.fromEntries(observed.tokens),
    more: observed.more,
    diagnostics,
    context: briefText(read, options),
  };
}

/** @returns the brief for a model or a person, marked as data, of at most 4,000 characters */
export function briefText(read: ReadTranscript, { now, directory }: BriefOptions): string {
  const sections = [
    headOf(read, now),
    openOf(read),
    doubtOf(filesInDoubt(read, directory)),
    tasksOf(read),
    errorsOf(read),
    changedOf(read),
    actionsOf(read),
    wayBackOf(read),
  ];
  return fenced(withinBudget(sections, CHARACTERS - FENCE_LENGTH));
}

function headOf({ observed, format, sessionId }: ReadTranscript, now: number): Section {
  const { firstPrompt, lastPrompt, lastActivity, firstActivity, isTurnOpen, lastTurnEnd, lastWords } = observed;
  const when =
    lastActivity === null || firstActivity === null
      ? 'no activity is known'
      : `from ${isoTime(firstActivity)} to ${isoTime(lastActivity)}, ${ago(now - lastActivity)}`;
  const turn = isTurnOpen
    ? 'Its last turn did not end: the agent was at work when the record stopped.'
    : `Its last turn ended: ${endOf(lastTurnEnd)}.`;
  return {
    title: '',
    entries: entries('purpose', [
      `Session ${sessionId ?? 'without a name'} of ${PROGRAMS[format ?? 'journal']}, ${when}.`,
      firstPrompt === null ? 'What was asked is not recorded.' : `It was asked: ${words(firstPrompt)}`,
      ...(lastPrompt === null || lastPrompt === firstPrompt ? [] : [`It was last asked: ${words(lastPrompt)}`]),
      turn,
      ...(lastWords === null ? [] : [`The agent's last words: ${words(lastWords)}`]),
    ]),
  };
}

/** @returns a clause for the journal's word */
function endOf(reason: string | null): string {
  if (reason === null) return 'nothing was begun';
  if (reason === 'end_turn' || reason === 'completed') return 'the agent had given its answer';
  if (reason === 'interrupted') return 'it was interrupted';
  return reason === 'error' ? 'with an error' : words(reason);
}

/** What was still going on. */
function openOf({ observed }: ReadTranscript): Section {
  const calls = observed
    .openCalls()
    .map(({ words: call, at }) => `- ${words(call)}, since ${isoTime(at)}, without a result`);
  const waits = [...observed.waits].map(([kind, at]) => `- it waited since ${isoTime(at)} (${kind})`);
  const agents = observed.agents.list().filter(({ open }) => open);
  const names = agents.map(({ id, depth }) => `- sub-agent ${quoted(id)} was at work, at depth ${depth}`);
  return { title: 'Open when the record stopped:', entries: entries('next', [...calls, ...waits, ...names]) };
}

function doubtOf(files: readonly TouchedFile[]): Section {
  const state = ({ exists, size, changed_since }: TouchedFile): string =>
    exists ? `${size} bytes, ${changed_since ? 'changed' : 'not changed'} since` : 'it does not exist';
  return {
    title: 'Files that were changed in the turn that did not end, to be checked first:',
    entries: entries(
      'files',
      files.map((file) => `- ${quoted(file.path)}: ${state(file)}`),
    ),
  };
}

function tasksOf({ observed }: ReadTranscript): Section {
  const { done, total } = progressOf(observed.todos.list);
  const lines = observed.todos.list.map(({ id, title, status }) => `${MARKS[status]} ${id} ${words(title)}`);
  return { title: `Its own tasks, ${done} of ${total} were done:`, entries: entries('steps', lines) };
}

function errorsOf({ observed: { errors, more } }: ReadTranscript): Section {
  const last = errors.slice(-MOST_ERRORS);
  const lines = last.map(({ at, tool, outcome, message }) => `- ${isoTime(at)} ${tool} ${outcome}: ${words(message)}`);
  const count = errors.length + (more.errors ?? 0);
  return { title: `Calls that failed, ${count} in all; the last ones:`, entries: entries('high_notes', lines) };
}

function changedOf({ observed }: ReadTranscript): Section {
  const line = ([path, { change, from }]: readonly [string, ObservedFile]) =>
    `- ${change}: ${from === null ? '' : `${quoted(from)} to `}${quoted(path)}`;
  const changed = [...observed.files].filter(([, { change }]) => change !== 'read');
  return { title: 'Files that it changed, the latest first:', entries: entries('notes', changed.map(line).reverse()) };
}

function actionsOf({ observed }: ReadTranscript): Section {
  const last = observed.actions.slice(-MOST_ACTIONS);
  const who = (agent: string) => (agent === 'main' ? '' : 'a sub-agent: ');
  const lines = last.map(({ at, agent, words: call }) => `- ${isoTime(at)} ${who(agent)}${words(call)}`);
  return { title: 'Its last calls:', entries: entries('actions', lines) };
}

function wayBackOf({ observed, format, sessionId, diagnostics }: ReadTranscript): Section {
  const { list } = observed.todos;
  const next = list.find(({ status }) => status === 'in_progress') ?? list.find(({ status }) => status === 'pending');
  const unread = diagnostics.garbage_lines + diagnostics.oversized_lines + diagnostics.newer_lines;
  const back = { claude: 'claude --resume', codex: 'codex resume', journal: null }[format ?? 'journal'];
  return {
    title: '',
    entries: entries('next', [
      ...(next === undefined ? [] : [`Next: task ${next.id}, ${words(next.title)}, ${next.status.replace('_', ' ')}.`]),
      ...(unread === 0 ? [] : [`${unread} lines of the record could not be read.`]),
      ...(back === null || sessionId === null ? [] : [`To continue that conversation: ${back} ${sessionId}`]),
    ]),
  };
}

/** Files that were touched since the last end of a turn, or were to be: the agent may have died while it wrote them. */
function filesInDoubt({ observed }: ReadTranscript, directory: string): TouchedFile[] {
  if (!observed.isTurnOpen) return [];
  const beingChanged = observed.openCalls().flatMap(({ path }) => path ?? []);
  return [...new Set([...observed.touched, ...beingChanged])].map((path) => {
    const stat = statSync(resolve(directory, path), { throwIfNoEntry: false });
    const at = observed.files.get(path)?.at ?? observed.lastActivity ?? 0;
    const exists = stat !== undefined;
    return { path, exists, size: stat?.size ?? null, changed_since: stat === undefined ? null : stat.mtimeMs > at };
  });
}

function entries(rank: Rank, lines: readonly string[]): Entry[] {
  return lines.map((text) => ({ rank, text }));
}

/** @param text redacted when it was read */
function words(text: string): string {
  return quoted(shorten(text, LONGEST_WORDS));
}
