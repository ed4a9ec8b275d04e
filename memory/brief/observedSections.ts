/** Sections of a context from what was observed of a session. */
import type { Redact } from '../../src/log/redact.js';
import { shorten } from '../../src/log/shorten.js';
import { isoTime } from '../../src/time.js';
import { type DoubtfulFile, nameIn } from '../condition/filesInDoubt.js';
import { progressOf, sumOf } from '../fold/state.js';
import { agentWords, type OpenCall } from '../observed/calls.js';
import { changeWords, type ObservedFile } from '../observed/files.js';
import type { Observed } from '../observed/observed.js';
import type { Rewind } from '../observed/rewinding.js';
import type { LeftProcess } from '../sessions/leftProcesses.js';
import { MARKS } from '../show/status.js';
import type { StepStatus } from '../words.js';
import type { Entry, Rank, Section } from './budget.js';
import { quoted } from './fence.js';

const LONGEST_WORDS = 300;
/** Names what an agent waits for, by the journal's word. */
const WAITS: Readonly<Record<string, string>> = {
  user: 'a person',
  permission: 'a permission',
  rate_limit: 'its provider, which was busy or had refused',
  child: 'another agent',
};
const NAME = /^[\w.-]{1,64}$/;

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

/** @returns the agent's words at its end, whether it was at work then, and which earlier turns it abandoned */
export function turnLines(observed: Observed, words: Words): string[] {
  const { lastWords, hasSpoken, leftTurns, rewinds } = observed;
  const when = hasSpoken ? '' : ', from before its last prompt';
  return [
    turnLine(observed, words),
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

export function turnLine({ isTurnOpen, lastTurnEnd, waits }: Observed, words: Words): string {
  const isAsking = waits.has('user') || waits.has('permission');
  return isTurnOpen
    ? `Its last turn did not end: the agent ${isAsking ? 'waited for a person' : 'was at work'} when the record stopped.`
    : `Its last turn ended: ${endOf(lastTurnEnd, words)}.`;
}

/** @returns a clause for the journal's word */
function endOf(reason: string | null, words: Words): string {
  if (reason === null) return 'nothing was begun';
  if (reason === 'end_turn' || reason === 'completed') return 'the agent had given its answer';
  if (reason === 'interrupted') return 'a person stopped it before the agent had answered';
  return reason === 'error' ? 'with an error' : words.text(reason);
}

/**
 * The open calls, waits and sub-agents.
 * @param asked when a hook last reported a request for permission, UTC epoch milliseconds; null if none did. No hook reports the answer
 */
export function openOf(observed: Observed, words: Words, asked: number | null = null): Section {
  const isAsked = ({ at }: OpenCall) => asked !== null && asked >= at;
  const calls = [...observed.leftTurns.flatMap((turn) => turn.calls), ...observed.openCalls()]
    .map((call) => [call, isAsked(call) ? '; a permission was asked for, so it may never have run' : ''] as const)
    .map(([{ words: call, at }, more]) => `- ${words.text(call)}, since ${isoTime(at)}, without a result${more}`);
  const waits = [...observed.waits].map(
    ([kind, at]) => `- it waited for ${WAITS[kind] ?? words.name(kind)}, since ${isoTime(at)}`,
  );
  const agents = observed.agents.list().filter(({ open }) => open);
  const orders = ordersOf(observed, words).entries;
  const names = agents.map(({ id, depth }) => `- sub-agent ${words.text(id)} was at work, at depth ${depth}`);
  return {
    title: 'Open when the record stopped:',
    entries: [...orders, ...entries('next', [...calls, ...waits, ...names])],
  };
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

export function doubtOf(files: readonly DoubtfulFile[], words: Words): Section {
  const state = ({ exists, size, changed_since }: DoubtfulFile): string =>
    exists
      ? `${size} bytes, ${changed_since ? 'changed' : 'not changed'} since it was last mentioned`
      : 'it does not exist';
  return {
    title: 'Files that were being worked on and may be half written, to be checked first:',
    entries: entries(
      'files',
      files.map((file) => `- ${words.path(file.path)}: ${state(file)}`),
    ),
  };
}

/** Names only: the agent that works on them knows the rest. */
export function inProgressOf(files: readonly DoubtfulFile[], words: Words): Section {
  return {
    title: 'Files in progress:',
    entries: entries(
      'files',
      files.map(({ path }) => `- ${words.path(path)}`),
    ),
  };
}

/** @param isShown which of them; without it, all */
export function tasksOf(
  { todos: { list } }: Observed,
  words: Words,
  isShown = (_: Pick<StepLike, 'status'>) => true,
): Section {
  const { done, total } = progressOf(list);
  const shown = list.filter(isShown);
  return { title: `Its own tasks, ${done} of ${total} were done:`, entries: stepEntries(shown, words) };
}

interface StepLike {
  readonly id: string;
  readonly title: string;
  readonly status: StepStatus;
}

export function stepEntries(steps: Iterable<StepLike>, words: Words): Entry[] {
  return entries(
    'steps',
    [...steps].map(({ id, title, status }) => `${MARKS[status]} ${words.name(id)} ${words.text(title)}`),
  );
}

/** @param directory as in {@link nameIn} */
export function changedOf({ files, more }: Observed, directory: string, words: Words): Section {
  const name = (path: string) => words.path(nameIn(directory, path));
  const line = ([path, { change, from, rewound }]: readonly [string, ObservedFile]) =>
    `- ${changeWords(change)}${rewound ? ', taken back perhaps' : ''}: ${from === null ? '' : `${name(from)} to `}${name(path)}`;
  const changed = [...files].filter(([, { change }]) => change !== 'read');
  const others = more.files ? ' (there may be others: not every file was recorded)' : '';
  return {
    title: `Files that it changed, the latest first${others}:`,
    entries: entries('notes', changed.map(line).reverse()),
  };
}

export function callsOf({ actions }: Observed, count: number, words: Words): Section {
  const how = (outcome: string | null) =>
    outcome === 'ok' ? '' : `, ${outcome === null ? 'without a result' : words.name(outcome)}`;
  const last = count === 0 ? [] : actions.slice(-count);
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
