/** Sections of a context from what was observed of a session. */
import { LISTS } from '../../src/journal/agentVocabulary.js';
import type { Redact } from '../../src/log/redact.js';
import { shorten } from '../../src/log/shorten.js';
import { isoTime } from '../../src/time.js';
import { waitWords } from '../condition/words.js';
import { progressOf, sumOf } from '../fold/state.js';
import { type Action, agentWords, type OpenCall, openWords, toolOf } from '../observed/calls.js';
import type { Observed } from '../observed/observed.js';
import type { Rewind } from '../observed/rewinding.js';
import type { StepLike } from '../observed/step.js';
import { taskTitled } from '../observed/todos.js';
import type { LeftProcess } from '../sessions/leftProcesses.js';
import { MARKS } from '../show/status.js';
import type { Entry, Rank, Section } from './budget.js';
import { quoted } from './fence.js';

const LONGEST_WORDS = 300;
/** Claude Code's and the journal's words. */
const ANSWERED = ['end_turn', 'completed', 'success'];
const NAME = /^[\w.-]{1,64}$/;
/** How many failed calls are shown, and how many refused ones. */
export const MOST_FAULTS = 5;
/** A command of Watchkeeper that wrote what the record shows. */
const OWN_COMMAND = /^\w+: (?:watchkeeper track|session-tracker) \w/;

/** Puts words of others into a brief. */
export class Words {
  readonly #redact: Redact;

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  /** @returns the beginning of a text, in quotation marks */
  text(text: string): string {
    return quoted(shorten(this.#redact(text), LONGEST_WORDS));
  }

  /** @returns a name as it is if it can say nothing else, such as that of a tool */
  name(name: string): string {
    return NAME.test(name) && this.#redact(name) === name ? name : this.text(name);
  }

  /** @returns the whole of it: half a path is of no use */
  path(path: string): string {
    return quoted(this.#redact(path));
  }
}

export function entries(rank: Rank, lines: readonly string[]): Entry[] {
  return lines.map((text) => ({ rank, text }));
}

/** @returns the agent's words at its end, what was taken back, and which earlier turns it abandoned */
export function wordsLines(observed: Observed, words: Words): string[] {
  const { lastWords, hasSpoken, leftTurns, rewinds } = observed;
  const when = hasSpoken ? '' : ', from before its last prompt';
  return [
    ...(lastWords === null ? [] : [`The agent's last words${when}: ${words.text(lastWords)}`]),
    ...rewinds.slice(-1).map((last) => rewindLine(last, rewinds.length, words)),
    ...leftTurns.map(
      ({ at }) =>
        `Before that, it was cut off in the middle of a turn, at ${isoTime(at)}: what it was doing may be half done.`,
    ),
  ];
}

function rewindLine({ at, prompts }: Rewind, count: number, words: Words): string {
  const times = count === 1 ? '' : `, the last time of ${count}`;
  const what = prompts.length === 0 ? '' : `, before ${prompts.map((text) => words.text(text)).join(' and ')}`;
  return `A person took the conversation back at ${isoTime(at)}${times}${what}: what was done for that does not count; its files may still be there.`;
}

/** @returns whether the agent waits for a person */
export function isAsking({ waits }: Observed): boolean {
  return waits.has('user') || waits.has('permission');
}

export function turnLine(observed: Observed, words: Words): string {
  const { isTurnOpen, lastTurnEnd } = observed;
  return isTurnOpen
    ? `Its last turn did not end: the agent ${isAsking(observed) ? 'waited for a person' : 'was at work'} when the record stopped.`
    : `Its last turn ended: ${endOf(lastTurnEnd, words)}${errorOf(observed, words)}.`;
}

function errorOf({ lastTurnEnd, lastError }: Observed, words: Words): string {
  return lastTurnEnd === 'error' && lastError !== null ? `, ${words.text(lastError)}` : '';
}

/** @returns a clause for the journal's word */
function endOf(reason: string | null, words: Words): string {
  if (reason === null) return 'nothing was begun';
  if (ANSWERED.includes(reason)) return 'the agent had given its answer';
  if (reason === 'interrupted') return 'a person stopped it before the agent had answered';
  return reason === 'error' ? 'with an error' : words.text(reason.replaceAll('_', ' '));
}

/**
 * The open calls, waits and sub-agents.
 * @param asked as of {@link openWords}
 */
export function openOf(observed: Observed, words: Words, asked: number | null = null): Section {
  const calls = openCallsOf(observed).map(
    ({ words: call, at }) => `- ${words.text(call)}, since ${isoTime(at)}${openWords({ at }, asked)}`,
  );
  const waits = [...observed.waits].map(
    ([kind, at]) => `- it waited for ${waitWords(kind, (text) => words.name(text))}, since ${isoTime(at)}`,
  );
  const agents = observed.agents.list().filter(({ open }) => open);
  const orders = ordersOf(observed, words).entries;
  const names = agents.map(({ id, depth }) => `- sub-agent ${words.text(id)} was at work, at depth ${depth}`);
  return {
    title: 'Open when the record stopped:',
    entries: [...orders, ...entries('next', [...calls, ...waits, ...names])],
  };
}

function openCallsOf(observed: Observed): OpenCall[] {
  return [...observed.leftTurns.flatMap((turn) => turn.calls), ...observed.openCalls()];
}

export function ordersOf({ waitingOrders }: Observed, words: Words): Section {
  return {
    title: '',
    entries: entries(
      'next',
      waitingOrders.map(({ text, at }) => orderLine(text, at, words)),
    ),
  };
}

function orderLine(text: string | null, at: number, words: Words): string {
  const said = text === null ? '' : `: ${words.text(text)}`;
  return `- an order that a person gave at ${isoTime(at)} was still waiting, and the agent never got it${said}`;
}

/** Processes of crashed agents that still run. */
export function leftOf(left: readonly LeftProcess[], words: Words): Section {
  return {
    title: 'Still running, begun by an agent that is gone; end it, or wait for it, before you do the same again:',
    entries: entries(
      'next',
      left.map(({ pid, command }) => `- process ${pid}: ${words.text(command)}`),
    ),
  };
}

/**
 * @param plan the steps that were declared. A task that has, or had, the title of one is shown there
 * @param isShown which of them; without it, all
 */
export function tasksOf(
  { todos: { list } }: Observed,
  words: Words,
  plan: readonly StepLike[],
  isShown = (_: Pick<StepLike, 'status'>) => true,
): Section {
  const shown = new Set(plan.map(({ title }) => taskTitled(list, title)));
  const own = list.filter((task) => !shown.has(task) && !plan.some(({ title }) => title === task.title));
  const { done, total } = progressOf(own);
  const isNext = plan.length === 0 ? nextOf(own)?.id : undefined;
  return {
    title: `Its own tasks, ${done} of ${total} were done:`,
    entries: stepEntries(own.filter(isShown), words, isNext),
  };
}

/** @returns the one in progress, else the first pending one */
export function nextOf<Step extends StepLike>(steps: readonly Step[]): Step | undefined {
  return steps.find(({ status }) => status === 'in_progress') ?? steps.find(({ status }) => status === 'pending');
}

/**
 * @param next the id of the next one, whose title is needed most
 * @param more a clause for a step
 */
export function stepEntries<Step extends StepLike>(
  steps: readonly Step[],
  words: Words,
  next: string | undefined,
  more = (_: Step) => '',
): Entry[] {
  return steps.map((step) => ({
    rank: step.id === next ? 'next' : 'steps',
    text: `${MARKS[step.status]} ${words.name(step.id)} ${words.text(step.title)}${more(step)}`,
  }));
}

/** The last calls that no other section shows: not the open ones, the faults, and those that kept the lists of tasks and steps. */
export function callsOf(observed: Observed, count: number, words: Words): Section {
  const open = openCallsOf(observed);
  const faults = [...observed.errors.slice(-MOST_FAULTS), ...observed.refusals.slice(-MOST_FAULTS)];
  const isShown = ({ at, agent, words: call, outcome }: Action) =>
    outcome === 'ok'
      ? LISTS.has(toolOf(call)) || OWN_COMMAND.test(call)
      : outcome === null
        ? open.some((one) => one.at === at && one.agent === agent && one.words === call)
        : faults.some((fault) => fault.at >= at && fault.agent === agent && fault.call === call);
  const how = (outcome: string | null) =>
    outcome === 'ok' ? '' : `, ${outcome === null ? 'without a result' : words.name(outcome)}`;
  const last = count === 0 ? [] : observed.actions.filter((action) => !isShown(action)).slice(-count);
  const lines = last.map(
    ({ at, agent, words: call, outcome }) => `- ${isoTime(at)} ${agentWords(agent)}${words.text(call)}${how(outcome)}`,
  );
  return { title: 'Its last calls:', entries: entries('actions', lines) };
}

/** In numbers. */
export function costOf(observed: Observed): Section {
  const { actions, tokens, agents } = observed;
  const { input, output, cached } = sumOf(tokens);
  const count = agents.list().length;
  return {
    title: '',
    entries: entries('rest', [
      ...(actions.length === 0 ? ['It made no call.'] : []),
      ...(tokens.size === 0 ? [] : [`It used ${input + cached} tokens of input and ${output} of output.`]),
      ...(count === 0 ? [] : [`It started ${count === 1 ? 'a sub-agent' : `${count} sub-agents`}.`]),
    ]),
  };
}
