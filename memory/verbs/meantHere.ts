/**
 * Finds the session that a person in a second shell means, for a verb that only shows it. There may be thousands here: they are weighed,
 * and few of them are read.
 */
import { counted } from '../../src/counted.js';
import { isUnfinished, meantFirst } from '../condition/weight.js';
import { hasLeftNothing } from '../look/leftNothing.js';
import { lookAt } from '../look/look.js';
import type { Weighed } from '../look/marks.js';
import type { Locating } from '../look/standing.js';
import { type WeighedHere, weighedHere } from '../look/unfinished.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Listener } from '../sessions/views.js';
import { MOST_SHOWN } from './candidates.js';

/** Ended sessions that are looked at for the one that ended last, the last begun first. */
const MOST_ENDED = 50;
/** How many sessions at rest are read, to see whether anything was done in them. */
const MOST_READ = 10;

export interface MeantHere {
  readonly session: OpenSession;
  /** Which one was taken, and why, if the caller has named none. */
  readonly asides: readonly string[];
}

type Meaning = Locating & Listener;

interface Asked {
  readonly id?: string | undefined;
  readonly session: string | undefined;
}

export interface Meant {
  /** Whether the last session of the directory will do, if no agent is at work there, and none was interrupted. */
  readonly orLast?: boolean;
  /** Whether the work is meant, and not its agent: a chat that rests and has left nothing gives way to any other session. */
  readonly isWork?: boolean;
}

/**
 * @returns the named session, or the one that the caller's agent or directory means. Else the only one at work in the directory; else the
 *   only one that crashed or was cut off; else the only unfinished one
 * @throws UsageError if there is none of that name, or it is not clear
 */
export async function meantHere(
  memory: Meaning,
  { id, session }: Asked,
  { orLast = false, isWork = false }: Meant = {},
): Promise<MeantHere> {
  const name = id ?? session;
  const known = name === undefined ? memory.implied() : memory.which(name);
  if (known !== null) return { session: known, asides: [] };
  const all = await weighedHere(memory, memory.workspace);
  const here = isWork ? await withoutChats(memory, all, orLast) : all;
  const unfinished = meantFirst(here.gone.filter(isUnfinished));
  const interrupted = unfinished.filter(({ isInterrupted }) => isInterrupted);
  const [found = [], why = ''] =
    [
      [here.atWork, 'the only one here with an agent'] as const,
      [interrupted, 'the only one here whose agent crashed or was cut off'] as const,
    ].find(([sessions]) => sessions.length > 0) ?? [];
  const [only] = found;
  if (only !== undefined && found.length === 1) {
    const asides = only === here.atWork[0] ? othersUnfinished(unfinished.length) : [];
    return taken(memory, only.id, why, asides);
  }
  const left =
    found.length > 0 ? null : ((orLast ? lastSession(memory, here) : null) ?? onlyUnfinished(memory, unfinished));
  if (left !== null) return left;
  const meant = found.length > 0 ? found : unfinished;
  if (meant.length === 0) throw memory.unclear();
  throw memory.unclear(opened(memory, meant.slice(0, MOST_SHOWN)), Math.max(meant.length - MOST_SHOWN, 0));
}

/** @returns the same without chats that have left nothing, unless there would be nothing else to take */
async function withoutChats(memory: Meaning, here: WeighedHere, orLast: boolean): Promise<WeighedHere> {
  const isWork = async ({ id }: { readonly id: string }) => {
    const session = memory.look(id);
    return session === null || !hasLeftNothing(await lookAt(memory, session));
  };
  const atWork = await filtered(here.atWork, isWork);
  const isTaken = atWork.length > 0 || here.gone.some(isUnfinished);
  if (isTaken || !orLast) return isTaken ? { ...here, atWork } : here;
  const resting = here.gone.toSorted((one, other) => (other.last_activity ?? 0) - (one.last_activity ?? 0));
  const gone = await filtered(resting.slice(0, MOST_READ), isWork);
  return gone.length > 0 || lastEnded(memory) !== null ? { ...here, atWork, gone } : here;
}

async function filtered<One>(all: readonly One[], isKept: (one: One) => Promise<boolean>): Promise<One[]> {
  const kept: One[] = [];
  for (const one of all) if (await isKept(one)) kept.push(one);
  return kept;
}

function othersUnfinished(count: number): string[] {
  const others = `${counted(count, 'other session')} here ${count === 1 ? 'is' : 'are'} unfinished`;
  return count === 0 ? [] : [`${others}: watchkeeper work list --here`];
}

function taken(memory: Meaning, id: string, why: string, asides: readonly string[] = []): MeantHere {
  return { session: memory.which(id), asides: [`session ${id}: ${why}`, ...asides] };
}

function opened(memory: Meaning, sessions: readonly { readonly id: string }[]): OpenSession[] {
  return sessions.flatMap(({ id }) => memory.look(id) ?? []);
}

/** @returns null if there are none, or several */
function onlyUnfinished(memory: Meaning, unfinished: readonly Weighed[]): MeantHere | null {
  const [only] = unfinished;
  return only === undefined || unfinished.length > 1 ? null : taken(memory, only.id, 'the only unfinished one here');
}

/** @returns the session that ended last, the only unfinished one, or the one that was active last. Null if there is none */
function lastSession(memory: Meaning, { gone }: WeighedHere): MeantHere | null {
  const latest = newestOf(gone);
  const unfinished = meantFirst(gone.filter(isUnfinished));
  const ended = lastEnded(memory);
  const isEnded = ended !== null && ended.at >= (latest?.last_activity ?? 0);
  const only = isEnded ? null : onlyUnfinished(memory, unfinished);
  if (only !== null) return only;
  const last = isEnded ? ended : latest;
  if (last === null) return null;
  const others = unfinished.filter(({ id }) => id !== last.id).length;
  return taken(memory, last.id, 'the last one here', othersUnfinished(others));
}

function newestOf(sessions: readonly Weighed[]): Weighed | null {
  const [first = null, ...rest] = sessions;
  return rest.reduce(
    (newest, one) => ((one.last_activity ?? 0) > (newest?.last_activity ?? 0) ? one : newest),
    first as Weighed | null,
  );
}

function lastEnded(memory: Meaning): { readonly id: string; readonly at: number } | null {
  const { claims, workspace, sessions, places } = memory;
  const ids = [...(claims.read(workspace)?.sessions ?? [])].reverse();
  const isOver = (id: string) => sessions.endsEnded(id) || places.findSession(id) !== places.sessionFolder(id);
  let last: { readonly id: string; readonly at: number } | null = null;
  let looked = 0;
  for (const id of ids) {
    if (looked === MOST_ENDED) break;
    if (!isOver(id)) continue;
    looked += 1;
    const end = memory.look(id)?.log.state.end ?? null;
    if (end === null || end.reason === 'superseded' || end.at === null) continue;
    if (last === null || end.at > last.at) last = { id, at: end.at };
  }
  return last;
}
