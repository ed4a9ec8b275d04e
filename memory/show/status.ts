/** A session for a person who asks how it is. */
import { counted } from '../../src/counted.js';
import { isProcessAlive } from '../../src/host/identity.js';
import { oneLine } from '../../src/log/visibleText.js';
import { HOUR, isoTime, MINUTE } from '../../src/time.js';
import { freshnessOf, isStateStale, type SessionState, type StateCheck, sessionStateOf } from '../fold/freshness.js';
import { lostRun } from '../fold/runs.js';
import { progressOf, sumOf, unsettledOf } from '../fold/state.js';
import type { Worklog } from '../fold/worklog.js';
import type { LogCounts } from '../logs/reader.js';
import { type CombinedState, combinedState } from '../observed/combined.js';
import type { Observed } from '../observed/observed.js';
import { purposeOf } from '../observed/purpose.js';
import { observe } from '../observed/sources.js';
import { type LeftProcess, leftProcesses, wordsOfShell } from '../sessions/leftProcesses.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Freshness, Liveness, StepStatus } from '../words.js';

/** What depends on now and on this host, and is in no file. */
interface Computed {
  readonly liveness: Liveness;
  readonly crashed: boolean;
  readonly freshness: Freshness;
  readonly check: StateCheck;
  readonly session_state: SessionState;
}

export interface Status {
  readonly log: Worklog;
  readonly state: CombinedState;
  /** What was observed; null if nothing was. */
  readonly fold: Observed | null;
  /** The last activity or acknowledgement, UTC epoch milliseconds. */
  readonly last: number | null;
  readonly computed: Computed;
  /** What goes on of agents that crashed; redacted. */
  readonly left: readonly LeftProcess[];
  readonly now: number;
  /** Sentences on lines of its log that are not in the state. */
  readonly damage: readonly string[];
}

/** A step of the plan, or a task of the agent's own list. */
interface StepLike {
  readonly id: string;
  readonly status: StepStatus;
  readonly title: string;
  readonly reason?: string | null;
}

const MOST_FILES_NAMED = 50;

/** As in a list of tasks. */
export const MARKS: Readonly<Record<StepStatus, string>> = {
  completed: '[x]',
  in_progress: '[~]',
  pending: '[ ]',
  failed: '[!]',
  skipped: '[-]',
  cancelled: '[-]',
};

/** Of its present run. */
const AGENTS: Readonly<Record<Liveness, string>> = {
  alive: 'its agent is alive',
  dead: 'its agent has ended',
  unknown: 'whether its agent lives is unknown',
  none: 'no agent is known',
};

/**
 * Looks at a session: its worklog, what was observed, and what follows from now and this host.
 * @param counts of its worklog, for somebody who has the time to wait for {@link settledCounts}
 */
export async function lookAt(
  memory: Memory,
  { log: written, folder }: OpenSession,
  counts: Readonly<LogCounts> = written.counts,
): Promise<Status> {
  const { state: log, at, path } = written;
  const { clock, settings, stamp } = memory;
  const now = clock.now();
  const session = { log, folder, workspace: memory.workspaceOf(log) };
  const observation = await observe(session, { folders: memory.programs, redact: stamp.redact });
  const state = combinedState(log, at, observation);
  const last = Math.max(state.last_activity ?? 0, log.acknowledged_at ?? 0) || null;
  const freshness = freshnessOf(last, now, settings.freshness);
  const { fold } = observation;
  const { liveness, isLost: crashed } = memory.runsOf(log);
  const computed = {
    liveness,
    crashed,
    freshness,
    check: isStateStale(last, now, settings.freshness),
    session_state: sessionStateOf(freshness, { isUsed: isUsed(log, fold), isCompacted: fold?.isCompacted ?? false }),
  };
  // Another agent may have come since; what the first one began goes on.
  const left = computed.crashed || lostRun(log) !== null ? leftBy(memory, log) : [];
  return { log, state, fold, last, computed, left, now, damage: damageOf(counts, path) };
}

function leftBy({ surroundings, stamp }: Memory, { conversations, runs }: Worklog): LeftProcess[] {
  const named = conversations.map(({ provider, id }) => ({ provider, conversation: id }));
  const living = runs
    .map(({ process }) => process)
    .filter((each) => isProcessAlive(each, surroundings.process) !== false);
  const left = leftProcesses(
    named,
    living.map(({ pid }) => pid),
  );
  return left.map(({ pid, command }) => ({ pid, command: wordsOfShell(stamp.redact(command)) }));
}

/** @returns the process for a person, in a line */
export function leftLine({ pid, command }: LeftProcess): string {
  return oneLine(`process ${pid}: ${command}`);
}

/** @returns the steps of the plan; without a plan, the tasks of the agent's own list */
export function stepsOf({ log, fold }: Pick<Status, 'log' | 'fold'>): readonly StepLike[] {
  const plan = [...log.steps.values()];
  return plan.length > 0 ? plan : (fold?.todos.list ?? []);
}

/** @returns its axes in one line */
export function axesLine({ log, last, computed, now }: Status): string {
  const left = log.end === null ? '' : unsettledWords([...log.steps.values()]);
  const end = log.end === null ? '' : `, ${log.end.reason}${left === '' ? '' : ` (${left})`}`;
  const agent = computed.crashed ? 'its agent CRASHED' : AGENTS[computed.liveness];
  const activity = last === null ? 'none' : `${ago(now - last)} (${isoTime(last)})`;
  return `${log.lifecycle}${end}; ${freshnessWords(computed)}; ${agent}; last activity ${activity}`;
}

export function statusLines(status: Status): string[] {
  const { log, fold } = status;
  const steps = stepsOf(status);
  const { done, total, current } = progressOf(steps);
  const title = steps.find(({ id }) => id === current)?.title ?? '';
  const working = [...log.files].filter(([, { status }]) => status === 'working').map(([path]) => path);
  return [
    oneLine(`${log.session_id ?? 'session'}: ${purposeOf(log, fold)}`),
    axesLine(status),
    ...status.damage,
    ...status.left.map((process) => `still running, begun by an agent that is gone: ${leftLine(process)}`),
    ...(log.facts === null ? ['what it is for is not known any more'] : []),
    ...(total === 0
      ? []
      : [`${done} of ${total} steps${current === null ? '' : `, now step ${current}: ${oneLine(title)}`}`]),
    ...steps.map((step) => `  ${stepLine(step)}`),
    ...(working.length === 0 ? [] : ['files in progress:', ...filesNamed(working)]),
    ...(fold === null ? [] : observedLines(fold)),
  ];
}

function filesNamed(paths: readonly string[]): string[] {
  const rest = paths.length - MOST_FILES_NAMED;
  const named = paths.slice(0, MOST_FILES_NAMED).map((path) => `  ${oneLine(path)}`);
  return rest > 0 ? [...named, `  … and ${rest} more, see --json`] : named;
}

function damageOf({ lines, unreadable, newer }: Readonly<LogCounts>, path: string): string[] {
  return [
    ...(lines === 0 ? [`its log is empty: ${path}`] : []),
    ...(unreadable > 0 ? [`${counted(unreadable, 'line')} of its log cannot be read: ${path}`] : []),
    ...(newer > 0
      ? [`${counted(newer, 'line')} of its log ${newer === 1 ? 'is' : 'are'} of a newer version: update this one`]
      : []),
  ];
}

/** With the word of the older tracker, where that says more. */
function freshnessWords({ freshness, session_state: word }: Computed): string {
  const more = {
    new: 'no tool was used yet',
    compacted: 'its context was compacted',
    active: '',
    resumed: '',
    stale: '',
  };
  return more[word] === '' ? freshness : `${freshness}, ${more[word]}`;
}

/** Whether an agent has used a tool, as far as it can be seen; without an observation, whether anything was begun. */
function isUsed(log: Worklog, fold: Observed | null): boolean {
  if (fold !== null) return fold.firstTool !== null;
  return log.files.size > 0 || [...log.steps.values()].some(({ started_at }) => started_at !== null);
}

/** What the agent did, in numbers. */
function observedLines({ files, errors, tokens, agents, more }: Observed): string[] {
  const changed = [...files.values()].filter(({ change }) => change !== 'read').length;
  const failed = errors.length + (more.errors ?? 0);
  const { input, output } = sumOf(tokens);
  const count = agents.list().length;
  return [
    `files changed: ${changed}${more.files ? ' or more' : ''}; failed calls: ${failed}; sub-agents: ${count}; tokens: ${input} in, ${output} out`,
  ];
}

export function stepLine({ id, status, title, reason }: StepLike): string {
  return oneLine(`${MARKS[status]} ${id} ${title}${status === 'failed' && reason ? ` (${reason})` : ''}`);
}

/** @returns `1 step failed, 2 steps are open`; empty if all are completed, skipped or cancelled */
export function unsettledWords(steps: readonly StepLike[]): string {
  const unsettled = unsettledOf(steps);
  const failed = unsettled.filter(({ status }) => status === 'failed').length;
  const open = unsettled.length - failed;
  return [
    ...(failed === 0 ? [] : [`${counted(failed, 'step')} failed`]),
    ...(open === 0 ? [] : [`${counted(open, 'step')} ${open === 1 ? 'is' : 'are'} open`]),
  ].join(', ');
}

const GO_ON = 'Go on with it:            watchkeeper track init --resume';
/** For somebody who begins a session where one is unfinished, and does not go on with that. */
export const WAYS_AROUND = [
  'Put it away as cancelled: watchkeeper track init --archive-existing "TASK"',
  'Work beside it:           watchkeeper track init --concurrent "TASK"',
];

/** What somebody reads who begins a session where one is unfinished, before {@link WAYS_AROUND}. */
export function heldLines(id: string, log: Worklog, now: number): string[] {
  const { done, total } = progressOf([...log.steps.values()]);
  const last = log.last_activity === null ? '' : `, last activity ${ago(now - log.last_activity)}`;
  return [
    `session ${id} is unfinished here: ${purposeOf(log, null)} (${done} of ${total} steps${last})`,
    ...[...log.steps.values()].map((step) => `  ${stepLine(step)}`),
    GO_ON,
  ];
}

/** @param ms negative if a clock was set back */
export function ago(ms: number): string {
  if (ms < MINUTE) return 'just now';
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  const hours = Math.floor(ms / HOUR);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}
