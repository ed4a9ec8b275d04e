/** All that is known of a session, as JSON, and as named lines for a page that has more to show than the memory. */
import { oneLine } from '../../src/log/visibleText.js';
import { describeDuration, localTime } from '../../src/time.js';
import { interruption, SEEMS_STUCK } from '../condition/words.js';
import { sumOf } from '../fold/state.js';
import type { LogCounts } from '../logs/reader.js';
import { settledCounts } from '../logs/settledCounts.js';
import { computedOf, type Judge, type Look, lookAt } from '../look/look.js';
import type { Locating } from '../look/standing.js';
import { agentWords, outcomeWords } from '../observed/calls.js';
import type { CombinedState, ShownFile } from '../observed/combined.js';
import { changeWords } from '../observed/files.js';
import { stepsOf, stepWords } from '../observed/step.js';
import { holdersWords } from '../plans/holding.js';
import type { OpenSession } from '../sessions/sessions.js';
import { lostDirectory, placeLines } from './directory.js';
import { axesLine, detailLines, section, stepLine, stuckLines, summaryLines, titleLine } from './status.js';
import { type Tree, treeLines, treeOf } from './tree.js';

const MOST_FILES = 20;
const MOST_NOTES = 10;
const MOST_CALLS = 10;
const MOST_COMMITS = 5;

export interface Shown {
  readonly look: Look;
  readonly tree: Tree;
  /** Null if it is unknown which one it was. */
  readonly directory: string | null;
  /** Whether it is gone. */
  readonly isLost: boolean;
  /** How a lost directory comes back, and where the agent is if it moved on. */
  readonly place: readonly string[];
  /** The agents that have steps in progress, each in a line. */
  readonly holders: readonly string[];
  /** As `work show --json` prints it. */
  readonly value: CombinedState &
    ReturnType<typeof computedOf> & {
      readonly tree: Tree;
      readonly log: Omit<LogCounts, 'newer'>;
      readonly duration: number | null;
    };
}

export async function showSession(memory: Locating, session: OpenSession, judge: Judge): Promise<Shown> {
  const counts = await settledCounts(session.log);
  const look = await lookAt(memory, session, { counts, judge });
  const tree = treeOf(memory.sessions, session.log.state);
  const { lines, applied, refused, unreadable } = counts;
  const log = { lines, applied, refused, unreadable };
  const directory = memory.workspaceOf(session.log.state)?.root ?? null;
  const isLost = lostDirectory(memory, session.log.state) !== null;
  return {
    look,
    tree,
    directory,
    isLost,
    place: placeLines(memory, session.log.state),
    holders: holdersWords(memory.surroundings.process, session.log.state),
    value: { ...look.state, ...computedOf(look), duration: durationOf(look), tree, log },
  };
}

/** @returns the session for a person: how it is, what was kept and what was done last */
export function shownLines(shown: Omit<Shown, 'value'>): string[] {
  const { look, tree, directory } = shown;
  const { recent } = look.log;
  const entries = recent.map(({ at, words }) => oneLine(`${localTime(at)}  ${words}`));
  return [
    titleLine(look),
    ...(directory === null ? [] : [`in ${oneLine(directory)}${shown.isLost ? ', which does not exist any more' : ''}`]),
    ...shown.place,
    ...summaryLines(look),
    axesLine(look),
    ...stuckLines(look).map((words) => oneLine(`${SEEMS_STUCK}, ${words}`)),
    ...durationLines(look),
    ...detailLines(look),
    ...section('steps in progress are held by:', shown.holders),
    // The others are named as in progress.
    ...section('files:', namedFiles(look, restingFiles(look))),
    ...section('notes:', firstOf(noteLines(look), MOST_NOTES, 'earlier notes')),
    ...section('the last entries:', entries),
    ...treeLines(tree),
    ...deedLines(look),
  ];
}

/** From its beginning to its end; to its last activity if it has not ended. Milliseconds; null if it is not known. */
function durationOf({ log, state }: Look): number | null {
  const until = log.end?.at ?? state.last_activity;
  return log.created_at === null || until === null ? null : Math.max(until - log.created_at, 0);
}

function durationLines(look: Look): string[] {
  const duration = durationOf(look);
  const { created_at } = look.log;
  if (duration === null || created_at === null) return [];
  return [`began ${localTime(created_at)}; duration ${describeDuration(duration)}`];
}

/** @returns what the agent did last, and what it said then */
function deedLines({ fold, log }: Look): string[] {
  if (fold === null) return [];
  const { actions, commits, lastWords } = fold;
  const asked = log.permission_asked_at;
  const calls = actions
    .slice(-MOST_CALLS)
    .map((action) =>
      oneLine(`${localTime(action.at)}  ${agentWords(action.agent)}${action.words}${outcomeWords(action, asked)}`),
    );
  const made = commits
    .slice(-MOST_COMMITS)
    .map(({ at, head, subject }) => oneLine(`${localTime(at)}  ${head} ${subject}`));
  return [
    ...section('its last commits:', made),
    ...section('what the agent did last:', calls),
    ...(lastWords === null ? [] : [oneLine(`its last words: ${lastWords}`)]),
  ];
}

/** @returns as {@link memoryLines}, for a page without {@link axesLine}: that its agent was interrupted */
export function crashLines({ look }: Shown): (readonly [name: string, line: string])[] {
  const how = interruption(look.condition);
  return how === null ? [] : [['crash', how]];
}

/** @returns a name and lines for each thing that is known; none for what is not */
export function memoryLines({ look, tree }: Shown): (readonly [name: string, ...lines: string[]])[] {
  const { log, fold, condition } = look;
  const { step } = condition;
  const texts: Readonly<Record<string, readonly string[]>> = {
    step: step === null ? [] : [stepWords(step)],
    steps: stepsOf(look).map(stepLine),
    files: namedFiles(look, changedFiles(look)),
    notes: firstOf(noteLines(look), MOST_NOTES, 'earlier notes'),
    summary: log.end?.summary ? [oneLine(log.end.summary)] : [],
    tree: treeLines(tree),
    tokens: fold === null || fold.tokens.size === 0 ? [] : [tokenWords(sumOf(fold.tokens))],
  };
  return Object.entries(texts).flatMap(([name, lines]) => (lines.length === 0 ? [] : [[name, ...lines] as const]));
}

/** The newest first. */
function noteLines({ log }: Look): string[] {
  return log.notes
    .map(({ priority, text }) => oneLine(priority === 'normal' ? text : `${priority}: ${text}`))
    .reverse();
}

function changedFiles({ state }: Look): string[] {
  return Object.entries(state.files).flatMap(changedFile);
}

function restingFiles({ state }: Look): string[] {
  return Object.entries(state.files).flatMap((entry) => (entry[1].status === 'working' ? [] : changedFile(entry)));
}

/** @returns nothing for a file that was only read */
function changedFile([path, { change, from, status }]: readonly [string, ShownFile]): string[] {
  const isChanged = change !== undefined && change !== 'read';
  if (!isChanged && (status === null || status === 'reading')) return [];
  const what = isChanged ? [changeWords(change, from)] : [];
  const words = [...what, ...(status === 'working' ? ['in progress'] : [])];
  return [oneLine(words.length === 0 ? path : `${path} (${words.join(', ')})`)];
}

function namedFiles({ fold }: Look, lines: readonly string[]): string[] {
  const rest = fold?.more.files ? ['there may be others: not every file was recorded'] : [];
  return [...firstOf(lines, MOST_FILES, 'files'), ...rest];
}

function firstOf(lines: readonly string[], most: number, what: string): string[] {
  return lines.length <= most ? [...lines] : [...lines.slice(0, most), `and ${lines.length - most} more ${what}`];
}

function tokenWords({ input, output, cached }: { input: number; output: number; cached: number }): string {
  return `${input} in, ${output} out, ${cached} from the cache`;
}
