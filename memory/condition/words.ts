/** The words that commands and contexts use for how a session is. */
import { counted } from '../../src/counted.js';
import type { WaitKind } from '../../src/journal/schema.js';
import type { Lifecycle, Liveness } from '../words.js';
import type { AgentCondition, Condition } from './condition.js';
import { type Damage, isDamaged } from './damage.js';
import type { PublishedWait } from './publishedWait.js';
import type { Doing } from './stuck.js';
import type { Weight } from './weight.js';

const LIVES: Readonly<Record<Liveness, string>> = {
  alive: 'its agent is alive',
  dead: 'its agent has ended',
  unknown: 'whether its agent lives cannot be seen from here',
  none: 'no agent is known',
};

/**
 * @param wait the dialog that its program publishes
 * @returns what its state leaves open, in a clause. Null if that says it all
 */
export function doingWords(doing: Doing | null, wait: PublishedWait | null): string | null {
  if (doing === 'in_tool') return 'a call of its agent is running';
  if (doing !== 'waiting') return null;
  return `its agent waits for ${wait === null ? 'a person or the model' : waitWords(wait.waiting_for ?? 'user')}`;
}

const WAITS: Readonly<Record<string, string>> = {
  user: 'a person',
  dialog: 'a person',
  permission: 'a permission',
  rate_limit: 'its provider, which was busy or had refused',
  child: 'another agent',
} satisfies Record<WaitKind | 'dialog', string>;

/**
 * @param kind the journal's word, or the name that a program gives its dialog
 * @param name puts such a name into the sentence
 * @returns what an agent waits for
 */
export function waitWords(kind: string, name = (text: string) => text): string {
  return WAITS[kind] ?? `a person (${name(kind)})`;
}

/** How it is known that an agent was interrupted. */
const PROOF = {
  crashed: 'the process of its agent is gone, and its program did not report its end',
  cut_off: 'the program of its agent ended in the middle of a turn',
} as const;

/** @returns how its agent was interrupted, in a clause. Null if it was not */
export function interruption({ agent }: Pick<Condition, 'agent'>): string | null {
  return agent === 'crashed' || agent === 'cut_off' ? PROOF[agent] : null;
}

/** @returns whether its agent was interrupted in its work, and cannot continue by itself */
export function isInterrupted({ agent }: Pick<Condition, 'agent'>): boolean {
  return agent === 'crashed' || agent === 'cut_off';
}

/** How the agent of a session was interrupted, as a verb. */
export const INTERRUPTED = { crashed: 'crashed', cut_off: 'was cut off' } as const;

/** Comes before the notice on a stuck agent. */
export const SEEMS_STUCK = 'seems stuck';

/** Follows a notice of a session that is not stuck. */
export const OVER = ' (over, or excused)';

type Row = Pick<Condition, 'agent' | 'stuck' | 'end' | 'lifecycle' | 'weight' | 'stopped' | 'damage'>;

const STATES: Readonly<Record<AgentCondition, string>> = {
  crashed: 'crashed',
  cut_off: 'cut off',
  working: 'at work',
  in_tool: 'at work',
  waiting: 'waiting for you',
  idle: 'resting',
  ended: 'resting',
  none: 'resting',
  elsewhere: 'on another host',
  unknown: 'unknown',
};

/** @returns its state in a word or a few */
export function stateWords({ agent, stuck, end, lifecycle, weight, stopped }: Omit<Row, 'damage'>): string {
  if (lifecycle === 'ended') return `ended${end === null ? '' : `, ${end}`}`;
  if (stuck !== null) return 'stuck';
  if (lifecycle === 'planned') return 'planned';
  return STATES[agent] === 'resting' && weight === 'open_turn' && stopped ? 'stopped' : STATES[agent];
}

/** Why a session is unfinished, where neither its state nor its steps show it. */
const WHY: Readonly<Partial<Record<Weight, string>>> = {
  failed: 'after a failure',
  taken_up: 'its files finished since',
};

const IN_DOUBT = 'files may be half written';

/** @returns the cell of a table: its state, what is unfinished, and whether its record is whole */
export function stateCell(row: Row): string {
  const state = stateWords(row);
  // An interruption says by itself that files may be half written.
  const why = row.weight === 'files_in_doubt' && state === 'resting' ? IN_DOUBT : WHY[row.weight];
  const rest = [
    ...(why === undefined ? [] : [why]),
    ...(isDamaged(row.damage) ? ['damaged'] : []),
    ...(row.damage.newer > 0 ? ['newer version'] : []),
  ];
  return [state, ...rest].join(', ');
}

/** @returns the cell of a table: `ended` if the end of its run is written; `dead` if it is not */
export function agentWord({ liveness, run_ended }: Pick<Condition, 'liveness' | 'run_ended'>): string {
  if (liveness === 'none') return '-';
  return run_ended ? 'ended' : liveness;
}

/** @returns a clause on its agent. Its state says already that one crashed or was cut off */
export function agentClause({ agent, liveness }: Pick<Condition, 'agent' | 'liveness'>): string {
  return interruption({ agent }) ?? LIVES[agent === 'ended' && liveness !== 'none' ? 'dead' : liveness];
}

/** @returns the words that set it apart from others, for a reader who picks one. Empty if nothing is known */
export function candidateWords({
  agent,
  stuck,
  liveness,
  run_ended,
}: Pick<Condition, 'agent' | 'stuck' | 'liveness' | 'run_ended'>): string {
  if (agent === 'crashed' || agent === 'cut_off') return STATES[agent];
  if (stuck !== null) return 'its agent seems stuck';
  return liveness === 'alive' && !run_ended ? LIVES.alive : '';
}

/** @returns its lifecycle and end, in the past tense: a brief is read later */
export function pastClause(lifecycle: Lifecycle, end: Condition['end']): string {
  return end === null ? `it was ${lifecycle}` : `it had ended as ${end}`;
}

/**
 * @param path of the log
 * @param remedy for lines of a newer version, as an imperative
 * @param log names the log in a sentence
 * @returns sentences
 */
export function damageLines(
  { unreadable, newer, isEmptied }: Omit<Damage, 'hasLostBeginning'>,
  path: string,
  remedy = 'update this one',
  log = 'its log',
): string[] {
  return [
    ...(isEmptied ? [`${log} is empty: ${path}`] : []),
    ...(unreadable > 0 ? [`${counted(unreadable, 'line')} of ${log} cannot be read: ${path}`] : []),
    ...(newer > 0
      ? [`${counted(newer, 'line')} of ${log} ${newer === 1 ? 'is' : 'are'} of a newer version: ${remedy}`]
      : []),
  ];
}
