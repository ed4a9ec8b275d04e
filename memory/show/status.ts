/** A session in lines for a person who asks how it is. */
import { counted } from '../../src/counted.js';
import { oneLine } from '../../src/log/visibleText.js';
import { HOUR, localTime, MINUTE } from '../../src/time.js';
import { agentClause, damageLines, isInterrupted, stateWords } from '../condition/words.js';
import { progressOf, sumOf, unsettledOf } from '../fold/state.js';
import type { Worklog } from '../fold/worklog.js';
import type { Look, WholeCondition } from '../look/look.js';
import type { Observed } from '../observed/observed.js';
import { purposeOf } from '../observed/purpose.js';
import { type StepLike, stepsOf } from '../observed/step.js';
import type { LeftProcess } from '../sessions/leftProcesses.js';
import type { StepStatus } from '../words.js';

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

/** @returns the process for a person, in a line */
export function leftLine({ pid, command }: LeftProcess): string {
  return oneLine(`process ${pid}: ${command}`);
}

/** @returns its axes in one line */
export function axesLine({ log, last, condition, now }: Look): string {
  const left = condition.end === null ? '' : unsettledWords([...log.steps.values()]);
  const ending = left === '' ? '' : ` (${left})`;
  const activity = last === null ? 'none' : `${ago(now - last)} (${localTime(last)})`;
  const clauses = [stateWords(condition) + ending, agentClause(condition), ...contextWords(condition)];
  return `${clauses.join('; ')}; last activity ${activity}`;
}

/** @returns a line on what a watcher has noticed; none if its agent is not stuck */
export function stuckLines({ condition: { stuck }, now }: Look): string[] {
  if (stuck === null) return [];
  const { noticed_at, sentence } = stuck;
  return [`${noticed_at === null ? '' : `noticed ${ago(now - noticed_at)}: `}${sentence}`];
}

export function statusLines(look: Look): string[] {
  return [titleLine(look), ...askedLines(look), ...summaryLines(look), axesLine(look), ...detailLines(look)];
}

function askedLines({ state: { last_asked = null } }: Look): string[] {
  return last_asked === null ? [] : [`last asked: ${oneLine(last_asked)}`];
}

export function summaryLines({ log: { end } }: Look): string[] {
  return end?.summary ? [`summary: ${oneLine(end.summary)}`] : [];
}

export function titleLine({ log, fold }: Look): string {
  return oneLine(`${log.session_id ?? 'session'}: ${purposeOf(log, fold)}`);
}

/** @returns what is damaged, what still runs, the steps, the files in progress or half done, and what the agent did */
export function detailLines(look: Look): string[] {
  const { log, fold, path, condition } = look;
  const { left, damage, progress } = condition;
  const { done, total, current } = progress;
  const steps = stepsOf(look);
  const title = steps.find(({ id }) => id === current)?.title ?? '';
  const working = [...log.files].filter(([, { status }]) => status === 'working').map(([path]) => path);
  return [
    ...damageLines(damage, path),
    ...left.map((process) => `still running, begun by an agent that is gone: ${leftLine(process)}`),
    ...(log.facts === null ? ['what it is for is not known any more'] : []),
    ...(total === 0
      ? []
      : [`${done} of ${counted(total, 'step')}${current === null ? '' : `, now step ${current}: ${oneLine(title)}`}`]),
    ...steps.map((step) => `  ${stepLine(step)}`),
    ...(working.length === 0 ? [] : ['files in progress:', ...filesNamed(working)]),
    ...leftLines(look, working),
    ...(fold === null ? [] : observedLines(fold)),
  ];
}

/** @returns what its agent left half done, if it was interrupted, stopped by a person, or left by its model */
function leftLines({ fold, condition }: Look, working: readonly string[]): string[] {
  if (fold?.lastTurnEnd === 'error' && !fold.isTurnOpen) return [failureLine(fold)];
  if (fold?.isStopped) return ['a person stopped its last turn before the agent had answered'];
  if (!isInterrupted(condition) && !fold?.leftTurns.length) return [];
  const files = condition.doubtful.map(({ path }) => path).filter((path) => !working.includes(path));
  return files.length === 0 ? [] : ['files that may be half written:', ...filesNamed(files)];
}

function failureLine({ lastError }: Observed): string {
  return oneLine(
    `its last turn ended with an error, before the agent had answered${lastError === null ? '' : `: ${lastError}`}`,
  );
}

function filesNamed(paths: readonly string[]): string[] {
  const rest = paths.length - MOST_FILES_NAMED;
  const named = paths.slice(0, MOST_FILES_NAMED).map((path) => `  ${oneLine(path)}`);
  return rest > 0 ? [...named, `  … and ${rest} more, see --json`] : named;
}

function contextWords({ session_state }: WholeCondition): string[] {
  if (session_state === 'compacted') return ['its context was compacted'];
  return session_state === 'new' ? ['no tool was used yet'] : [];
}

/** The agent's work, in numbers. */
function observedLines({ files, errors, tokens, agents, more }: Observed): string[] {
  const changed = [...files.values()].filter(({ change, rewound }) => change !== 'read' && rewound !== true).length;
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

const RESUME = 'Go on with it:            watchkeeper track init --resume';
/** For a caller who begins a session where one is unfinished, and does not resume that one. */
export const WAYS_AROUND = [
  'Put it away as cancelled: watchkeeper track init --archive-existing "TASK"',
  'Work beside it:           watchkeeper track init --concurrent "TASK"',
];

/** @returns lines on the unfinished session, for a caller who begins another one; {@link WAYS_AROUND} follow */
export function heldLines(id: string, log: Worklog, now: number): string[] {
  const { done, total } = progressOf([...log.steps.values()]);
  const last = log.last_activity === null ? '' : `, last activity ${ago(now - log.last_activity)}`;
  return [
    `session ${id} is unfinished here: ${purposeOf(log, null)} (${done} of ${counted(total, 'step')}${last})`,
    ...[...log.steps.values()].map((step) => `  ${stepLine(step)}`),
    RESUME,
  ];
}

/** @returns the lines under their title; nothing if there are none */
export function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

/** @param ms negative if a clock was set back */
export function ago(ms: number): string {
  if (ms < MINUTE) return 'just now';
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  const hours = Math.floor(ms / HOUR);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}
