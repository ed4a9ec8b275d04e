/** A new agent's directory: unfinished work, agents at work, and work that another agent has already heard about. */
import { counted } from '../../src/counted.js';
import { isoTime } from '../../src/time.js';
import type { Section } from '../brief/budget.js';
import type { Changing } from '../brief/changesSince.js';
import { entries, Words } from '../brief/observedSections.js';
import { isToBeReported, isUnfinished } from '../condition/weight.js';
import { type Look, lookAt } from '../look/look.js';
import type { Weighed } from '../look/marks.js';
import type { Locating } from '../look/standing.js';
import { weighedHere } from '../look/unfinished.js';
import { lastAskedOf, purposeOf } from '../observed/purpose.js';
import { startedAgain } from '../sessions/published.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';

const MOST_NAMED = 3;

/** Sees the sessions of a directory, and how they change. */
export type Reporting = Locating & Changing;

export interface Around {
  /** On these no agent works; the heaviest first. */
  readonly unfinished: readonly Weighed[];
  /** How many were interrupted, and their files were finished since: nobody needs to be told of these first. */
  readonly takenUp: number;
  readonly atWork: readonly Look[];
  /** The last active of those in which nothing is unfinished. Null if there is none. */
  readonly resting: Weighed | null;
}

/**
 * @param except the id of the reader's session. Null if it has none
 * @param until from then on only worklogs are read, UTC epoch milliseconds
 */
export async function aroundHere(memory: Reporting, except: string | null, until: number): Promise<Around> {
  const { gone, atWork } = await weighedHere(memory, memory.workspace, { except, until });
  const back = comingBack(memory, gone);
  const left = gone.filter(({ id }) => !back.some((session) => session.id === id));
  return {
    unfinished: left.filter(isToBeReported),
    takenUp: left.filter(({ weight }) => weight === 'taken_up').length,
    atWork: await atWorkOf(memory, [...atWork, ...back], until),
    resting: left.find((one) => !isUnfinished(one)) ?? null,
  };
}

/** @returns those whose agent died, and is started again by its program: another one must not begin the same */
function comingBack(memory: Reporting, gone: readonly Weighed[]): OpenSession[] {
  const again = memory.programs === null ? [] : startedAgain(memory.programs);
  const ids = again.map((conversation) => memory.bindings.sessionOf(conversation));
  const lost = gone.filter(({ id, isInterrupted }) => isInterrupted && ids.includes(id));
  return lost.flatMap(({ id }) => memory.look(id) ?? []);
}

/** Unfinished work whose record was given to the agent of another session, which still lives. */
export interface Taken extends OpenSession {
  readonly isInterrupted: boolean;
  readonly by: string;
  /** UTC epoch milliseconds. */
  readonly at: number;
}

/** @returns null if no living agent was given the session's record */
export function takenBy(memory: Reporting, session: OpenSession, isInterrupted: boolean): Taken | null {
  const { told } = session.log.state;
  const state = told === null ? undefined : memory.look(told.session_id)?.log.state;
  if (told === null || state === undefined || memory.runsOf(state).alive.length === 0) return null;
  return { ...session, isInterrupted, by: told.session_id, at: told.at };
}

async function atWorkOf(memory: Reporting, sessions: readonly OpenSession[], until: number): Promise<Look[]> {
  const looks: Look[] = [];
  for (const session of sessions) {
    if (looks.length === MOST_NAMED || memory.clock.now() >= until) break;
    const look = await lookAt(memory, session);
    if (look.fold?.isTurnOpen) looks.push(look);
  }
  return looks;
}

/** @returns for an agent, what others do in its directory */
export function besideLines(memory: Viewer, atWork: readonly Look[], taken: readonly Taken[]): Section[] {
  const words = new Words(memory.stamp.redact);
  const working = atWork.map(({ log, fold, condition }) => {
    const [purpose, asked] = [purposeOf(log, fold), lastAskedOf(log, fold)];
    const about = purpose === '' ? '' : `: ${words.text(purpose)}`;
    const now = asked === null ? '' : `; it was last asked: ${words.text(asked)}`;
    const how = condition.doing === 'waiting' ? 'waits for its person' : 'is at work';
    return `Another agent ${how} in this directory, in session ${words.name(log.session_id ?? '')}${about}${now}`;
  });
  const told = taken.slice(0, MOST_NAMED).map(({ id, isInterrupted, by, at }) => {
    const how = isInterrupted ? 'did not finish its work' : 'left work unfinished';
    return `The agent of session ${words.name(id)} ${how}. The agent of session ${words.name(by)}, which still runs, was told of it at ${isoTime(at)}: leave it to that one, unless the person decides otherwise. To see it: watchkeeper track resume ${words.name(id)}`;
  });
  const lines = [...working, ...told];
  return lines.length === 0 ? [] : [{ title: '', entries: entries('files', lines) }];
}

/**
 * @param takenUp as {@link Around.takenUp}
 * @returns for an agent, that nothing is unfinished. It holds no words of others, so it needs no fence
 */
export function restingLine({ id, last_activity }: Weighed, takenUp: number): string {
  const but = takenUp === 0 ? '' : `, but ${counted(takenUp, 'session')} whose files another agent has finished since`;
  const when = last_activity === null ? '' : ` since ${isoTime(last_activity).slice(0, '2026-01-01T10:00'.length)}Z`;
  return `Nothing is unfinished in this directory${but}. Session ${id} rests${when}; all: watchkeeper work list --here --all`;
}
