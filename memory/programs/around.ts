/** What a new agent finds in its directory: unfinished work, other agents at work, and work that another agent was told of. */
import { isoTime } from '../../src/time.js';
import type { Section } from '../brief/budget.js';
import type { Changing } from '../brief/changesSince.js';
import { entries, Words } from '../brief/observedSections.js';
import { isUnfinished } from '../condition/weight.js';
import { INTERRUPTED, isInterrupted } from '../condition/words.js';
import { type Look, lookAt } from '../look/look.js';
import { type Weighed, weighed } from '../look/unfinished.js';
import { purposeOf } from '../observed/purpose.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenHere } from '../sessions/openHere.js';
import { isStartedAgain } from '../sessions/published.js';
import type { Viewer } from '../sessions/views.js';

const MOST_NAMED = 3;

/** Sees the sessions of a directory, and how they change. */
export type Reporting = Viewer & Changing & Pick<Memory, 'bindings' | 'claims' | 'isBridges' | 'look'>;

export interface Around {
  /** On these no agent works; the heaviest first. */
  readonly unfinished: readonly Weighed[];
  /** Unfinished, too, and the agent of another session, which still lives, was told of them. */
  readonly taken: readonly Weighed[];
  readonly atWork: readonly Look[];
  /** The last active of those in which nothing is unfinished. Null if there is none. */
  readonly resting: Weighed | null;
}

/**
 * @param found open sessions of the directory, the most urgent first
 * @param until from then on only worklogs are read, UTC epoch milliseconds
 */
export async function aroundHere(memory: Reporting, found: readonly OpenHere[], until: number): Promise<Around> {
  const { programs } = memory;
  // Its program starts the agent again by itself, so another one must not begin the same.
  const isAtWork = ({ manning, log }: OpenHere) =>
    manning === 'lost' && programs !== null && isStartedAgain(programs, log.state.conversations);
  const others = found.map((one): OpenHere => (isAtWork(one) ? { ...one, manning: 'at_work' } : one));
  const gone = others.filter(({ manning }) => manning !== 'at_work');
  const all = await weighed(memory, gone, until);
  const unfinished = all.filter(({ condition }) => isUnfinished(condition));
  const isTaken = ({ session }: Weighed) => holderOf(memory, session) !== null;
  return {
    unfinished: unfinished.filter((one) => !isTaken(one)),
    taken: unfinished.filter(isTaken),
    atWork: await atWorkOf(memory, others, until),
    resting: all.find(({ condition, isUnused }) => !isUnfinished(condition) && !isUnused) ?? null,
  };
}

/** @returns the living agent that was told of the session: its session. Null if there is none */
function holderOf(memory: Reporting, { log }: OpenHere): string | null {
  const { told } = log.state;
  const state = told === null ? undefined : memory.look(told.session_id)?.log.state;
  return state !== undefined && memory.runsOf(state).alive.length > 0 ? (told?.session_id ?? null) : null;
}

async function atWorkOf(memory: Reporting, others: readonly OpenHere[], until: number): Promise<Look[]> {
  const looks: Look[] = [];
  for (const session of others.filter(({ manning }) => manning === 'at_work')) {
    if (looks.length === MOST_NAMED || memory.clock.now() >= until) break;
    const look = await lookAt(memory, session);
    if (look.fold?.isTurnOpen) looks.push(look);
  }
  return looks;
}

/** @returns for an agent, what others do in its directory */
export function besideLines(memory: Viewer, { taken, atWork }: Around): Section[] {
  const words = new Words(memory.stamp.redact);
  const working = atWork.map(({ log, fold }) => {
    const purpose = purposeOf(log, fold);
    return `Another agent is at work in this directory, in session ${words.name(log.session_id ?? '')}${purpose === '' ? '' : `: ${words.text(purpose)}`}`;
  });
  const told = taken.slice(0, MOST_NAMED).map(({ session, condition }) => {
    const { agent } = condition;
    const how = isInterrupted(condition)
      ? `an agent ${INTERRUPTED[agent as keyof typeof INTERRUPTED]}`
      : 'work is left';
    const { session_id, at } = session.log.state.told ?? { session_id: '', at: 0 };
    return `In session ${words.name(session.id)} ${how}; the agent of session ${words.name(session_id)}, which still runs, was told of it at ${isoTime(at)}: leave it to that one unless the person decides otherwise. To see it: watchkeeper track resume ${words.name(session.id)}`;
  });
  const lines = [...working, ...told];
  return lines.length === 0 ? [] : [{ title: '', entries: entries('files', lines) }];
}

/** @returns for an agent, that nothing is unfinished. It holds no words of others, so it needs no fence */
export function restingLine({ session, last_activity }: Weighed): string {
  const when = last_activity === null ? '' : ` since ${isoTime(last_activity).slice(0, '2026-01-01T10:00'.length)}Z`;
  return `Nothing is unfinished in this directory. Session ${session.id} rests${when}; all: watchkeeper work list --here --all`;
}
